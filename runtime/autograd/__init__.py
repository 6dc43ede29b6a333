"""Automatic differentiation: backward passes, custom functions, numerical checks."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.lazy import lazy_attributes as _lazy_attributes
from ..core.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..graph.anomaly import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .gradcheck import gradcheck, gradgradcheck

if _TYPE_CHECKING:
    from ..graph.raw_saved import SavedTensor
    from . import (
        anomaly_mode,
        forward_ad,
        functional,
        grad_mode,
        graph,
        profiler,
        variable,
    )
    from .function import Function
    from .node_flow import gradient_flow
    from .switches import (
        _unsafe_preserve_version_counter as _unsafe_preserve_version_counter,
    )
    from .switches import is_multithreading_enabled, set_multithreading_enabled
    from .variable import Variable

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


# Few programs ask for these: they are imported when one first does.
__getattr__, __dir__ = _lazy_attributes(
    globals(),
    {
        "Function": (".function", "Function"),
        "SavedTensor": ("..graph.raw_saved", "SavedTensor"),
        "Variable": (".variable", "Variable"),
        "gradient_flow": (".node_flow", "gradient_flow"),
        **{
            name: (".switches", name)
            for name in (
                *("_unsafe_preserve_version_counter", "is_multithreading_enabled"),
                "set_multithreading_enabled",
            )
        },
        **{
            name: (f".{name}", "")
            for name in (
                *("anomaly_mode", "forward_ad", "functional", "grad_mode", "graph", "profiler"),
                "variable",
            )
        },
    },
)
