"""PyTorch's `torch.backends`, for programs that ask for other ways to compute: there is one.

Switches remember what they were set to and choose nothing.
"""

from ..core.missing import explaining as _explaining
from . import cuda as cuda
from . import cudnn as cudnn
from . import mps as mps

__all__ = ["cuda", "cudnn", "mps"]

__getattr__ = _explaining(__name__)
