"""Automatic differentiation: backward passes, custom functions, numerical checks."""

from ..modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import forward_ad
from .backward import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "forward_ad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
]
