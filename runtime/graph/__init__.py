"""The backward pass: the engine, its tasks and hooks, and what nodes saved for it."""
