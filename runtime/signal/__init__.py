"""Signals: `windows`, as PyTorch's `torch.signal`."""

from . import windows as windows
