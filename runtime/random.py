"""Tensors of random numbers, from one generator that all threads share, or from a given one.

The numbers are not PyTorch's for the same seed; the distributions are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import numpy as np

from .batching.randomness import for_each_element, for_each_example, reading_parameters
from .core.captured import is_any
from .core.modes import is_grad_enabled
from .core.random_draws import (
    cast_numbers,
    check_spread,
    integers_between,
    largest_exact,
    normal_numbers,
    standard_normal,
    uniform_numbers,
)
from .core.random_generator import Generator as Generator
from .core.random_generator import default_generator as default_generator
from .core.random_generator import generator
from .core.random_generator import get_rng_state as get_rng_state
from .core.random_generator import initial_seed as initial_seed
from .core.random_generator import manual_seed as manual_seed
from .core.random_generator import seed as seed
from .core.random_generator import set_rng_state as set_rng_state
from .core.strides import in_order_of
from .core.tensor import Tensor, wrap
from .dispatch.numbers_given import real_given
from .dispatch.registry import ops
from .dtypes.promotion import type_name
from .dtypes.whole_numbers import whole_number
from .functions.creation import array_like, float_dtype, leaf, size_of
from .functions.creation_options import PLACE, creates
from .functions.splitting import common_shape
from .inplace.keywords import write_out

Array: TypeAlias = np.ndarray[Any, Any]


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **named: Any) -> Iterator[None]:
    """Draw inside without a trace: the default generator then resumes its state of before.

    `devices`, of which there are none but the CPU, and names of PyTorch's make no difference.
    """
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


@for_each_example
@creates(*PLACE, "out", "generator")
def rand(*size: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Uniform numbers in [0, 1)."""
    return leaf(uniform_numbers(size_of("rand", size, named), float_dtype(dtype)), requires_grad)


@for_each_example
@creates(*PLACE, "out", "generator")
def randn(*size: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Normal numbers of mean 0 and variance 1; complex ones have it in both parts together."""
    return leaf(standard_normal(size_of("randn", size, named), float_dtype(dtype)), requires_grad)


@for_each_element
@creates(*PLACE, "memory_format", "generator")
def rand_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in [0, 1), of the shape and dtype of `input`."""
    like = array_like("rand_like", input)
    values = uniform_numbers(like.shape, np.dtype(dtype or like.dtype))
    return leaf(in_order_of(like, values), requires_grad)


@for_each_element
@creates(*PLACE, "memory_format", "generator")
def randn_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal numbers of the shape and dtype of `input`."""
    like = array_like("randn_like", input)
    values = standard_normal(like.shape, np.dtype(dtype or like.dtype))
    return leaf(in_order_of(like, values), requires_grad)


@for_each_example
@creates(*PLACE, "out", "generator")
def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` (0 if left out) to before `high`: `randint(10, (2, 3))`.

    RuntimeError for bounds in the wrong order, or that the dtype does not hold.
    """
    if isinstance(high, list | tuple):
        low, high, size = None, low, high
    elif high is None:
        low, high = None, low
    for name, given in (("high", high), ("size", size)):
        if given is None:
            raise TypeError(f'randint() missing 1 required positional arguments: "{name}"')
    first, end = bounds_of("randint", low, high)
    chosen = np.dtype(np.int64 if dtype is None else dtype)
    shape = size_of("randint", (size,), {})
    return leaf(integers_between(first, end, shape, chosen), requires_grad)


def bounds_of(name: str, low: Any, high: Any) -> tuple[int, int]:
    """The bounds as integers, the lower one 0 where it is left out; TypeError for others."""
    first = 0 if low is None else whole_number(name, "low", low)
    return first, whole_number(name, "high", high)


@for_each_element
@creates(*PLACE, "memory_format", "generator")
def randint_like(
    input: Tensor,
    low: int | None = None,
    high: int | None = None,
    *,
    dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` (0 if left out) to before `high`, of the shape and dtype of `input`."""
    like = array_like("randint_like", input)
    drawn = randint(low, high, like.shape, dtype=like.dtype if dtype is None else dtype)
    return leaf(in_order_of(like, drawn.array), requires_grad)


@for_each_example
@creates(*PLACE, "out", "generator")
def randperm(n: int, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """The numbers below `n` in random order; RuntimeError where the dtype does not hold them."""
    n = whole_number("randperm", "n", n)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    chosen = np.dtype(np.int64 if dtype is None else dtype)
    if chosen.kind in "bc":
        raise NotImplementedError(f"\"randperm\" not implemented for '{type_name(chosen)}'")
    most = largest_exact(chosen) + 1
    if n > most:
        raise RuntimeError(f"n cannot be greater than {most} for {type_name(chosen)} type.")
    return leaf(generator().permutation(n).astype(chosen), requires_grad)


@for_each_example
@reading_parameters
@creates(*PLACE, "generator")
def normal(
    mean: Tensor | float,
    std: Tensor | float = 1.0,
    size: Any = None,
    *,
    dtype: Any = None,
    out: Tensor | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of the given means and standard deviations, tensors or numbers.

    `size`, `dtype` and `requires_grad` are for numbers alone: TypeError beside a tensor.
    """
    if size is not None:  # then tensors of one number are numbers
        mean, std = _plain(mean), _plain(std)
    center, spread = _given("normal", "mean", mean), _given("normal", "std", std)
    check_spread(spread)
    tensors = [value for value in (mean, std) if isinstance(value, Tensor)]
    if tensors:
        found = tensors[0].array.dtype if out is None else out.array.dtype
        if size is not None or requires_grad or (dtype is not None and np.dtype(dtype) != found):
            raise TypeError(
                "normal() takes size, dtype and requires_grad only where mean and std are numbers"
            )
        shape: tuple[int, ...] = common_shape([value.array.shape for value in tensors])
        made = leaf(cast_numbers(standard_normal(shape, found) * spread + center, found), False)
    elif size is None:
        raise TypeError("normal() needs a size where mean and std are numbers")
    else:
        shape = size_of("normal", (size,), {})
        dtype = float_dtype(out.array.dtype if dtype is None and out is not None else dtype)
        made = leaf(normal_numbers(mean, std, shape, dtype), requires_grad)
    return (
        made if out is None else cast("Tensor", write_out("normal", made, out, warns=bool(tensors)))
    )


def _plain(value: Any) -> Any:
    """A value, as Python's number if it is a tensor of a single one, without a gradient."""
    is_plain = isinstance(value, Tensor) and not (value.ndim or value.requires_grad)
    return value.item() if is_plain else value


def _given(name: str, argument: str, value: Any) -> Any:
    """The numbers of a tensor, or a real number; TypeError for anything else."""
    return value.array if isinstance(value, Tensor) else real_given(name, argument, value)


@for_each_element
@reading_parameters
@creates("generator")
def bernoulli(input: Tensor, p: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """1 with the probabilities of `input`, or with `p` everywhere; 0 otherwise.

    `out` may have another dtype.
    """
    chances = array_like("bernoulli", input)
    if p is None and chances.dtype.kind != "f":
        raise NotImplementedError(f"bernoulli: probabilities are real, not {chances.dtype}")
    wanted = chances if p is None else np.asarray(_given("bernoulli", "p", p))
    if is_any(~((wanted >= 0) & (wanted <= 1))):  # nan, too
        raise RuntimeError("bernoulli expects all probabilities to be in [0, 1]")
    dtype = chances.dtype if out is None else out.array.dtype
    if dtype.kind == "c":
        raise NotImplementedError(f'"bernoulli_tensor_cpu_self_" not implemented for {dtype}')
    made = wrap(cast_numbers(generator().random(chances.shape) < wanted, dtype))
    return made if out is None else cast("Tensor", write_out("bernoulli", made, out, warns=False))


@for_each_example
@reading_parameters
@creates("out", "generator")
def multinomial(input: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """Indices drawn with the weights in each row of `input` (one or two dimensions)."""
    weights = array_like("multinomial", input)
    if weights.dtype.kind != "f":
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{type_name(weights.dtype)}"
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if weights.ndim not in (1, 2):
        raise RuntimeError(f"prob_dist must be 1 or 2 dim, not {weights.ndim}")
    if is_any(~np.isfinite(weights)) or is_any(weights < 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    totals = weights.sum(axis=-1, dtype=np.float64, keepdims=True)
    if is_any(totals <= 0):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement:
        bounds = np.cumsum(weights / totals, axis=-1)
        # The sum of rounded numbers may stay below; weights of zero at the end are never drawn.
        bounds = np.where(bounds == bounds[..., -1:], 1.0, bounds)
        points = generator().random((*weights.shape[:-1], num_samples))
        return ops.searchsorted(wrap(bounds), wrap(points), right=True)
    if num_samples > weights.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if is_any((weights != 0).sum(axis=-1) < num_samples):
        raise RuntimeError(
            "invalid multinomial distribution (with replacement=False, not enough non-negative "
            "category to sample)"
        )
    # The first of exponential waiting times with these rates is distributed as the weights.
    drawn = generator().exponential(size=weights.shape)
    can_be = weights > 0
    waiting = np.where(can_be, drawn / np.where(can_be, weights, 1), np.inf)
    return wrap(np.argsort(waiting, axis=-1)[..., :num_samples])


@for_each_element
@reading_parameters
@creates("generator")
def poisson(input: Tensor) -> Tensor:
    """Counts of the rates in `input`; their gradient by the rates is zero, as in PyTorch.

    RuntimeError for a negative rate, NotImplementedError for integers.
    """
    rates = array_like("poisson", input)
    _check_drawn("poisson", rates)
    if is_any(~(rates >= 0)):  # nan, too
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    drawn = cast_numbers(generator().poisson(rates), rates.dtype)
    return ops._poisson(input, wrap(drawn))


@for_each_example
@reading_parameters
@creates("generator")
def binomial(count: Tensor, prob: Tensor) -> Tensor:
    """Numbers of successes in `count` trials with the chances `prob`, which broadcast.

    They have no gradient. ValueError for integers, RuntimeError for chances outside of [0, 1] and
    for negative counts, for which PyTorch's numbers mean nothing.
    """
    trials, chances = array_like("binomial", count), array_like("binomial", prob)
    for name, array in (("count", trials), ("prob", chances)):
        if array.dtype.kind != "f":
            raise ValueError(
                f"binomial only supports floating-point dtypes for {name}, got: {array.dtype}"
            )
    if is_any(trials < 0) or is_any(~((chances >= 0) & (chances <= 1))):
        raise RuntimeError("binomial expects counts of at least 0, and all probs in [0, 1]")
    drawn = generator().binomial(np.trunc(trials).astype(np.int64), chances)
    return wrap(cast_numbers(drawn, trials.dtype))


@for_each_element
@reading_parameters
@creates("generator")
def _standard_gamma(input: Tensor) -> Tensor:
    """Numbers of gamma distributions with the shapes in `input`, and scale one.

    Each is a quantile at a uniform number, so its derivatives by the shape are those of the
    quantile (implicit reparameterization), to every order. Under `no_grad` they are drawn by
    NumPy's sampler, which is much faster.
    """
    shapes = array_like("_standard_gamma", input)
    _check_drawn("gamma", shapes)
    if not is_grad_enabled():
        return wrap(cast_numbers(generator().standard_gamma(shapes), shapes.dtype))
    precise = np.dtype(np.float64) if shapes.dtype.itemsize > 4 else np.dtype(np.float32)
    shares = uniform_numbers(shapes.shape, np.dtype(np.float64))
    shares = np.maximum(shares, np.finfo(np.float64).tiny)
    if precise != np.float64:
        shares = np.clip(shares, np.finfo(precise).tiny, 1 - np.finfo(precise).epsneg)
    return ops._gamma_quantile(input, wrap(in_order_of(shapes, shares.astype(shapes.dtype))))


def _check_drawn(name: str, array: Array) -> None:
    if array.dtype.kind != "f":
        raise NotImplementedError(f'"{name}_cpu" not implemented for {array.dtype}')


class RandomMethods:
    """Methods of `Tensor` that draw random numbers by its elements."""

    __slots__ = ()

    bernoulli = bernoulli
    multinomial = multinomial
