"""In-place random numbers: `random_`, `bernoulli_`, `exponential_` and other distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..batching.randomness import filling_each_example, reading_parameters
from ..core.random_generator import Generator, drawing_from, generator
from ..core.tensor import Tensor
from ..dtypes.number_conversion import check_range
from ..dtypes.promotion import type_name
from .fill_copy import OverwriteNode, overwrite


def _drawn(
    self: Tensor, name: str, values: Any, source: Generator | None, node: type[OverwriteNode]
) -> Tensor:
    """Write numbers, which `values` draws for a shape, in the dtype of the tensor."""
    with drawing_from(name, source):
        drawn = values(self.array.shape)
    return overwrite(self, name, np.asanyarray(drawn).astype(self.array.dtype), [], node)


def _refuse(tensor: Tensor, name: str, kinds: str) -> None:
    if tensor.array.dtype.kind in kinds:
        kind = type_name(tensor.array.dtype)
        raise RuntimeError(f"{name} writes numbers that a tensor of dtype {kind} does not have")


class BernoulliBackward0(OverwriteNode):
    """The node of `bernoulli_`."""

    __slots__ = ()


class CauchyBackward0(OverwriteNode):
    """The node of `cauchy_`."""

    __slots__ = ()


class ExponentialBackward0(OverwriteNode):
    """The node of `exponential_`."""

    __slots__ = ()


class GeometricBackward0(OverwriteNode):
    """The node of `geometric_`."""

    __slots__ = ()


class LogNormalBackward0(OverwriteNode):
    """The node of `log_normal_`."""

    __slots__ = ()


class RandomBackward0(OverwriteNode):
    """The node of `random_`."""

    __slots__ = ()


@filling_each_example
def random_(
    self: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None
) -> Tensor:
    """Write integers from `from_` to before `to`; from 0 to the largest that fits if left out.

    Of floats the largest are those up to which every integer has one. `random_(to)` is
    `random_(0, to)`.
    """
    _refuse(self, "random_", "c")
    low, high = from_, to
    if high is None:
        low, high = (0, from_) if from_ else (0, _largest(self.array.dtype) + 1)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    check_range(low, high, self.array.dtype)
    dtype = np.uint64 if high > 1 << 63 else np.int64
    return _drawn(
        self,
        "random_",
        lambda shape: _source().integers(low, high, shape, dtype),
        generator,
        RandomBackward0,
    )


def _largest(dtype: np.dtype[Any]) -> int:
    """Return the largest integer that `random_` writes: all up to it are elements of the dtype."""
    if dtype.kind == "b":
        return 1
    return 1 << np.finfo(dtype).nmant + 1 if dtype.kind == "f" else int(np.iinfo(dtype).max)


@filling_each_example
@reading_parameters
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Write 1 with a probability, a number or a tensor that broadcasts, and 0 otherwise."""
    _refuse(self, "bernoulli_", "c")
    chances = p.array if isinstance(p, Tensor) else np.asarray(p)
    if np.any((chances < 0) | (chances > 1)):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    return _drawn(
        self,
        "bernoulli_",
        lambda shape: _source().random(shape) < chances,
        generator,
        BernoulliBackward0,
    )


@filling_each_example
def exponential_(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Write waiting times of a rate."""
    _refuse(self, "exponential_", "biuc")
    if lambd <= 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _drawn(
        self,
        "exponential_",
        lambda shape: _source().exponential(1 / lambd, shape),
        generator,
        ExponentialBackward0,
    )


@filling_each_example
def geometric_(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Write the number of trials up to the first success, of a probability in (0, 1)."""
    _refuse(self, "geometric_", "bc")
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _drawn(
        self,
        "geometric_",
        lambda shape: _source().geometric(p, shape),
        generator,
        GeometricBackward0,
    )


@filling_each_example
def cauchy_(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Write numbers of Cauchy's distribution."""
    _refuse(self, "cauchy_", "biuc")
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _drawn(
        self,
        "cauchy_",
        lambda shape: median + sigma * _source().standard_cauchy(shape),
        generator,
        CauchyBackward0,
    )


@filling_each_example
def log_normal_(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Write numbers whose logarithms have a normal distribution."""
    _refuse(self, "log_normal_", "biuc")
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _drawn(
        self,
        "log_normal_",
        lambda shape: _source().lognormal(mean, std, shape),
        generator,
        LogNormalBackward0,
    )


_source = generator
"""The generator to draw from, of which the functions above have an argument of the same name."""


class RandomFillMethods:
    """Methods of `Tensor` that overwrite it with random numbers."""

    __slots__ = ()

    random_ = random_
    bernoulli_ = bernoulli_
    exponential_ = exponential_
    geometric_ = geometric_
    cauchy_ = cauchy_
    log_normal_ = log_normal_
