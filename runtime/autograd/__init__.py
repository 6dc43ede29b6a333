"""Automatic differentiation: backward passes, custom functions, numerical checks."""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ..core.missing import no_attribute as _no_attribute
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..core.numpy_warnings import import_quietly as _import_quietly
from ..graph.anomaly import detect_anomaly, set_detect_anomaly
from ..graph.raw_saved import SavedTensor
from . import forward_ad, graph, variable
from .backward import backward, grad
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .gradient_flow import gradient_flow
from .switches import (
    _unsafe_preserve_version_counter as _unsafe_preserve_version_counter,
)
from .switches import is_multithreading_enabled, set_multithreading_enabled
from .variable import Variable

if _TYPE_CHECKING:
    from . import anomaly_mode, functional, grad_mode, profiler

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "gradient_flow",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]


def kineto_available() -> bool:
    """Return whether PyTorch's tracer of devices is there: False."""
    return False


def __getattr__(name: str) -> _Any:
    # Few programs ask for these modules: they are imported when one first does.
    if name in ("anomaly_mode", "functional", "grad_mode", "profiler"):
        return _import_quietly(f".{name}", __name__)
    raise _no_attribute(__name__, name)
