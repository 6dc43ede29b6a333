"""The formula language as a small expression tree; imports nothing else of ours."""
