"""The generator: YAML table of ops in, proved Python library out."""
