"""Whether a term is zero."""
