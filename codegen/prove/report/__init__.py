"""Reports of proofs: verdicts, counterexamples, the lock."""
