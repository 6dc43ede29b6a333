"""Functions made of ops of the table: creation, indexing, conversion, printing."""
