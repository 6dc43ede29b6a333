"""PyTorch's `torch.optim.adamw`: Adam whose decay of weights is apart from the gradient."""

from ..core.missing import explaining as _explaining
from .adam import AdamW as AdamW

__getattr__ = _explaining(__name__)
