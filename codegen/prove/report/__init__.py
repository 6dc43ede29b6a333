"""What is said and kept of a proof: verdicts, counterexamples, the lock."""
