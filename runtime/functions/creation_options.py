"""Arguments by name that every function takes which makes a tensor from nothing or from data.

`device`, `layout`, `pin_memory` and `memory_format` choose among what PyTorch has; here each has
one value, or changes only the order in memory. `out` is a tensor to write to, `generator` the
source of random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..core.lazy import LazyModule
from ..core.memory_format import preserve_format
from ..core.tensor import Tensor
from ..inplace.keywords import write_out

if TYPE_CHECKING:
    from ..core import devices, random_generator
    from . import properties
else:  # few calls have options
    devices = LazyModule("..core.devices", globals(), "devices")
    random_generator = LazyModule("..core.random_generator", globals(), "random_generator")
    properties = LazyModule(".properties", globals(), "properties")

OPTIONS: Final = frozenset(("device", "layout", "pin_memory", "memory_format", "out", "generator"))


def creates(*options: str) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Let a function that makes a tensor take some of the options beside its own arguments."""

    def with_options(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        name = function.__name__
        taken = OPTIONS.intersection(options)

        @wraps(function)
        def make(*args: Any, **kwargs: Any) -> Tensor:
            if not kwargs or taken.isdisjoint(kwargs):
                return function(*args, **kwargs)
            given = {option: kwargs.pop(option) for option in taken & kwargs.keys()}
            _check(name, given)
            out = given.get("out")
            if out is not None and not isinstance(out, Tensor):
                raise TypeError(
                    f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}"
                )
            if out is not None and kwargs.get("dtype") is None and _takes_dtype(function):
                kwargs["dtype"] = out.array.dtype
            if given.get("generator") is None:
                made = function(*args, **kwargs)
            else:
                with random_generator.drawing_from(name, given["generator"]):
                    made = function(*args, **kwargs)
            if given.get("memory_format") is not None:
                made = _in_format(made, given["memory_format"])
            if out is None:
                return made
            if name in _IN_A_ROW and made.array.size == out.array.size:
                made = made.reshape(out.array.shape)
            return write_out(name, made, out, warns=name in _WARNING)

        return make

    return with_options


@cache
def _takes_dtype(function: Callable[..., Any]) -> bool:
    from inspect import signature  # few programs need it, and it takes long to import

    return "dtype" in signature(function).parameters


_IN_A_ROW: Final = frozenset(("arange", "linspace", "logspace", "range"))
"""Functions that fill a given tensor of as many elements in its order, whatever its shape."""

_WARNING: Final = frozenset(("arange", "range"))
"""Functions that warn where they resize what they are given: it was to be filled in its order."""

PLACE: Final = ("device", "layout", "pin_memory")
"""The options of functions that make a tensor of a given size."""


def _check(name: str, given: dict[str, Any]) -> None:
    devices.check_device(name, given.get("device"))
    wanted = given.get("layout")
    if wanted is not None and wanted != properties.strided:
        if not isinstance(wanted, properties.layout):
            raise TypeError(
                f"{name}(): argument 'layout' must be gradspec.layout, not {type(wanted).__name__}"
            )
        raise RuntimeError(f"{name}: there is no layout {wanted!r}, only gradspec.strided")
    if given.get("pin_memory"):
        raise RuntimeError(
            f"{name}(): Cannot access accelerator device: memory is pinned for one, and there is "
            "only the CPU"
        )


def _in_format(made: Tensor, memory_format: Any) -> Tensor:
    """Lay out what was just made, whose history is its own."""
    if memory_format == preserve_format:
        return made
    ordered: Tensor = made.detach().contiguous(memory_format=memory_format)
    made.array = np.asarray(ordered.array)
    return made
