"""PyTorch's `torch.nn.modules`: the modules, and their base classes by the files they are in."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

if not _TYPE_CHECKING:
    from .. import *  # noqa: F403

from . import batchnorm as batchnorm
from . import loss as loss
from . import module as module
