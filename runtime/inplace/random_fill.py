"""In-place random numbers: `normal_`, `uniform_`, `random_`, `bernoulli_` and others."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..batching.randomness import filling_each_example, reading_parameters
from ..core.captured import is_any
from ..core.random_draws import integers_between, largest_exact, normal_numbers, uniform_between
from ..core.random_generator import Generator, drawing_from, generator
from ..core.tensor import Tensor
from ..dispatch.numbers_given import real_given
from ..dtypes.promotion import type_name
from .fill_copy import overwrite
from .in_transforms import refuse_captured
from .overwrite_nodes import OverwriteNode


def _drawn(
    self: Tensor, name: str, values: Any, source: Generator | None, node: type[OverwriteNode]
) -> Tensor:
    """Write numbers, which `values` draws for a shape, in the dtype of the tensor."""
    refuse_captured(self, name)
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


class NormalBackward0(OverwriteNode):
    """The node of `normal_`."""

    __slots__ = ()


class RandomBackward0(OverwriteNode):
    """The node of `random_`."""

    __slots__ = ()


class UniformBackward0(OverwriteNode):
    """The node of `uniform_`."""

    __slots__ = ()


_ABSENT: Final[Any] = object()
"""Default of `to`: None asks for the largest integer that fits."""


@filling_each_example
def random_(
    self: Tensor, from_: int | None = None, to: int | None = _ABSENT, *, generator: Any = None
) -> Tensor:
    """Write integers from `from_` to before `to`; from 0 to the largest that fits if left out.

    Of floats the largest are those up to which every integer has one. `random_(to)` is
    `random_(0, to)`, and `random_(from_, None)` ends with the largest. RuntimeError for bounds in
    the wrong order, and for those that the dtype does not hold.
    """
    _refuse(self, "random_", "c")
    dtype = self.array.dtype
    low, high = (None, from_) if to is _ABSENT else (from_, to)
    first = 0 if low is None else low
    end = largest_exact(dtype) + 1 if high is None else high
    return _drawn(
        self,
        "random_",
        lambda shape: integers_between(first, end, shape, dtype),
        generator,
        RandomBackward0,
    )


@filling_each_example
@reading_parameters
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Write 1 with a probability, a number or a tensor that broadcasts, and 0 otherwise."""
    _refuse(self, "bernoulli_", "c")
    chances = p.array if isinstance(p, Tensor) else np.asarray(real_given("bernoulli_", "p", p))
    if is_any(~((chances >= 0) & (chances <= 1))):  # nan, too
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
    lambd = real_given("exponential_", "lambd", lambd)
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
    p = real_given("geometric_", "p", p)
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
    median, sigma = real_given("cauchy_", "median", median), real_given("cauchy_", "sigma", sigma)
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
    mean, std = real_given("log_normal_", "mean", mean), real_given("log_normal_", "std", std)
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std}")
    return _drawn(
        self,
        "log_normal_",
        lambda shape: _source().lognormal(mean, std, shape),
        generator,
        LogNormalBackward0,
    )


@filling_each_example
def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Write random numbers of a normal distribution; see `gs.normal` for complex ones."""
    refuse_captured(self, "normal_")
    _refuse_integers(self, "normal_")
    mean, std = real_given("normal_", "mean", mean), real_given("normal_", "std", std)
    with drawing_from("normal_", generator):
        values = normal_numbers(mean, std, self.array.shape, self.array.dtype)
    return overwrite(self, "normal_", values, [], NormalBackward0)


@filling_each_example
def uniform_(self: Tensor, from_: float = 0, to: float = 1, *, generator: Any = None) -> Tensor:
    """Write random numbers that are uniform in `[from_, to)`, in both parts of complex ones.

    RuntimeError for bounds in the wrong order, and for those that the dtype does not hold.
    """
    refuse_captured(self, "uniform_")
    _refuse_integers(self, "uniform_")
    from_, to = real_given("uniform_", "from", from_), real_given("uniform_", "to", to)
    with drawing_from("uniform_", generator):
        values = uniform_between(from_, to, self.array.shape, self.array.dtype)
    return overwrite(self, "uniform_", values, [], UniformBackward0)


def _refuse_integers(tensor: Tensor, name: str) -> None:
    if tensor.array.dtype.kind in "iub":
        raise NotImplementedError(f"{name} writes floats, but got {type_name(tensor.dtype)}")


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
    normal_ = normal_
    uniform_ = uniform_
