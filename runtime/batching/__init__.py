"""`vmap`'s tensors: a function written for one example runs on all examples at once."""
