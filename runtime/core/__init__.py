"""Tensors, the nodes of the graph and modes: what everything else is made of."""
