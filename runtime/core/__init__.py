"""Tensors, the nodes of the graph, dtypes and modes: what everything else is made of."""
