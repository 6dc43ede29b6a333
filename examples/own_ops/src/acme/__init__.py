"""A package with ops of its own beside whatever else it does."""
