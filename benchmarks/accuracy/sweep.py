"""One op against the truth: the worst relative error of its values and of its gradients."""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import mpmath
import numpy as np

from gradspec.core.tensor import wrap
from gradspec.dispatch.registry import BY_NAME, import_all

from .points import points
from .subjects import Subject
from .truth import Truth

DTYPES: Final = ("float32", "float64")

Computed = dict[str, Any]
"""Arrays by quantity: `forward`, and the gradient of each argument by its name."""


@dataclass(frozen=True, slots=True)
class Error:
    """The error of one result, and the point at which it came about."""

    relative: float
    point: tuple[float, ...]
    computed: float
    true: float


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of sweeping one quantity (`forward`, or an argument for its VJP) in one dtype."""

    subject: str
    op: str
    arguments: tuple[str, ...]
    quantity: str
    dtype: str
    checked: int
    errors: Mapping[str, tuple[Error, ...]]
    """By library, the worst first; errors below one unit in the last place are left out."""

    def worst(self, library: str) -> float:
        """The largest relative error."""
        found = self.errors[library]
        return found[0].relative if found else 0.0


def sweep(subject: Subject, *, with_torch: bool, thin: int = 1) -> list[Finding]:
    """Compare an op at many points. Raises NotSymbolic if its definition is no expression."""
    truth = Truth(subject)
    found = []
    for name in DTYPES:
        where = points(subject, np.dtype(name), thin=thin)
        columns = [np.array(column, name) for column in zip(*where, strict=True)]
        computed = {
            name: _run(library, subject, columns)
            for name, library in _libraries(subject, with_torch).items()
        }
        found += [
            _finding(subject, quantity, name, where, truth, computed)
            for quantity in truth.quantities
        ]
    return found


def _finding(
    subject: Subject,
    quantity: str,
    dtype: str,
    where: Sequence[tuple[float, ...]],
    truth: Truth,
    computed: Mapping[str, Computed],
) -> Finding:
    info = np.finfo(dtype)
    errors: dict[str, list[Error]] = {library: [] for library in computed}
    checked = 0
    for place, point in enumerate(where):
        true = truth(quantity, point)
        if true is None or not _is_checked(true, point, info):
            continue
        checked += 1
        for library, results in computed.items():
            value = float(results[quantity][place])
            relative = _relative(value, true)
            if relative > info.eps:
                errors[library].append(Error(relative, point, value, float(true)))
    return Finding(
        subject.label,
        subject.op.name,
        subject.tensors,
        quantity,
        dtype,
        checked,
        {k: tuple(sorted(v, key=lambda e: -e.relative)) for k, v in errors.items()},
    )


def _is_checked(true: Any, point: Sequence[float], info: Any) -> bool:
    """Return whether the true value is a normal number; at infinity, infinite limits count too."""
    size = abs(true)
    if not all(map(math.isfinite, point)) and size > info.max:
        return True
    return bool(info.smallest_normal <= size <= info.max)


def _relative(value: float, true: Any) -> float:
    if math.isnan(value):
        return math.inf
    if math.isinf(value):
        return 0.0 if abs(true) > 1e300 and (value > 0) == (true > 0) else math.inf
    return float(abs((mpmath.mpf(value) - true) / true))


@dataclass(frozen=True, slots=True)
class _Library:
    function: Callable[..., Any]
    to_tensor: Callable[[Any], Any]
    to_array: Callable[[Any], Any]


def _run(library: _Library, subject: Subject, columns: Sequence[Any]) -> Computed:
    """Values and gradients at all points at once."""
    leaves = {
        name: library.to_tensor(column.copy()).requires_grad_(True)
        for name, column in zip(subject.tensors, columns, strict=True)
    }
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        out = _call(library.function, subject, leaves)
        out.sum().backward()
    results = {"forward": out.detach()} | {name: leaf.grad for name, leaf in leaves.items()}
    return {name: library.to_array(result) for name, result in results.items()}


def _call(function: Callable[..., Any], subject: Subject, leaves: Mapping[str, Any]) -> Any:
    values = subject.arguments() | dict(leaves)
    params = subject.op.signature.params
    positional = [values[p.name] for p in params if not p.keyword_only]
    return function(*positional, **{p.name: values[p.name] for p in params if p.keyword_only})


_CALLED_OTHERWISE = {"log_sigmoid": "logsigmoid"}


def _libraries(subject: Subject, with_torch: bool) -> dict[str, _Library]:
    """This library, and PyTorch if it is asked for and has a function of the name."""
    import_all()
    ours = BY_NAME[subject.op.name].function
    libraries = {"gradspec": _Library(ours, wrap, lambda tensor: tensor.numpy())}
    if not with_torch:
        return libraries
    import torch

    name = _CALLED_OTHERWISE.get(subject.op.signature.name, subject.op.signature.name)
    for place in (torch, torch.nn.functional, torch.special):
        if hasattr(place, name):
            theirs = getattr(place, name)
            # Where a derivative is zero everywhere, PyTorch keeps no array of zeros.
            array = partial(torch.Tensor.numpy, force=True)
            return libraries | {"torch": _Library(theirs, torch.from_numpy, array)}
    return libraries


def has_torch() -> bool:
    """Return whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None
