"""Functions of neural networks: the ops of the table in PyTorch's namespace `nn.functional`."""

from __future__ import annotations

from ..generated.nn_names import *  # noqa: F403
