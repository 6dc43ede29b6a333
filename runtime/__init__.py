"""A NumPy autograd with PyTorch's API, generated from a proved table of derivatives.

    import gradspec as gs

    x = gs.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    x.grad  # tensor([2., 4.])
"""

from __future__ import annotations

import warnings as _warnings

from . import autograd as autograd
from .generated import *  # noqa: F403
from .generated.methods import TensorMethods as _TensorMethods
from .modes import enable_grad as enable_grad
from .modes import is_grad_enabled as is_grad_enabled
from .modes import no_grad as no_grad
from .modes import set_grad_enabled as set_grad_enabled
from .tensor import Size as Size
from .tensor import Tensor as Tensor
from .tensor import install as _install

_install(_TensorMethods)

# PyTorch computes 1/0 and log(0) silently; NumPy's warnings about them are muted for our code only.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradspec\.")
