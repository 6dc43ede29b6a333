"""What is made of ops without being one: creation, indexing, conversion, printing."""
