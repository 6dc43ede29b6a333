"""`vmap`'s tensors: a function written for one example runs on all examples at once."""

from .call import call_batched as call_batched
