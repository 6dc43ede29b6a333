"""Jinja templates of the generated package."""
