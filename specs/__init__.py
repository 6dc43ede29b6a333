"""The table of ops, as data: `derivatives.yaml` and the families it includes."""
