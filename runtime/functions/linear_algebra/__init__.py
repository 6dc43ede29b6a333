"""Functions of matrices made of ops of the table: norms, products, reflectors, low rank."""
