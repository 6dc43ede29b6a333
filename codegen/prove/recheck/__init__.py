"""Proofs checked again from a certificate: the same runs, identities at points drawn anew."""
