"""Parts of an explanation: groups of operations, memory, steps and their times."""
