"""Functions for parameters and sequences of modules: PyTorch's `nn.utils`."""

from ...core.missing import explaining as _explaining
from . import rnn as rnn

__getattr__ = _explaining(__name__)
