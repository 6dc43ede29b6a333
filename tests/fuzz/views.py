"""Views of views, and writes through them, as lines of a random program.

Unlike the events of `events`, these are drawn for the shape of the tensor, so that nearly all
of them are allowed.
"""

from __future__ import annotations

import math
import random

from .draw import Known, Shape, nested, numbers

_ANY = (
    *(".squeeze()", ".unsqueeze(0)", ".unsqueeze(-1)", "[...]", "[None]", ".view_as({x})"),
    *(
        ".expand(2, *{shape})",
        ".detach()",
        ".flatten()",
        ".ravel()",
        ".contiguous()",
        ".reshape(-1)",
    ),
    *(".view(-1)", ".view({shape})", ".expand_as({x})", ".reshape({shape})", ".unbind(0)[0]"),
    *(".broadcast_to((2, *{shape}))", ".reshape({other})", ".view({other})"),
)
_VECTORS = (
    *(".narrow({d}, {i}, 1)", ".narrow({d}, 0, {k})", ".select({d}, {i})", ".unbind({d})[{i}]"),
    *(".split(1, {d})[{i}]", ".split(2, {d})[0]", ".split(2, {d})[-1]", ".chunk(2, {d})[-1]"),
    *(".tensor_split(2, {d})[0]", ".movedim({d}, {e})", ".transpose({d}, {e})", ".squeeze({d})"),
    *(".unsqueeze({d})", "[{i0}]", "[0:1]", "[1:]", "[..., 0]", "[..., ::2]", "[:]", "[-1:]"),
    *(".flatten({low}, {high})", ".permute({order})", ".swapaxes({d}, {e})", "[None, ..., :1]"),
    *(".unflatten({d}, (1, -1))", ".split([1, {rest}], {d})[1]", ".split([{rest}, 1], {d})[0]"),
)
_MATRICES = (
    *(".mT", ".diagonal()", ".diagonal(1, {d}, {e2})", ".diagonal(-1, -1, 0)", "[:, {i1}]", ".T"),
    *("[:, 1:]", "[:, None]", "[{i0}, {i1}]", "[{i0}, :1]", "[1:, ::2]", "[:, {i1}:]", ".mT.mT"),
)
_COMPLEX = (".real", ".imag", "{T}view_as_real({x})")

_UNARY = (
    *("sin_", "cos_", "neg_", "square_", "exp_", "relu_", "abs_", "zero_", "floor_", "atan_"),
    *("round_", "ceil_", "sign_", "sinh_", "erf_", "reciprocal_", "asin_", "log1p_", "tan_"),
)
_WRITES = (
    *("{x}.{binary}(source({x}, {y}))", "{x}.{binary}(source({x}, {y}))"),
    *("{x}.{binary}({n})", "{x}[...] = {n}", "{x}[...] = source({x}, {y})", "{x}.fill_({n})"),
    *("{x}.copy_(source({x}, {y}))", "{x}.copy_({literal})", "{x}.masked_fill_({mask}, {n})"),
    *("{x}.addcmul_(source({x}, {y}), source({x}, {y}))", "{x}.lerp_(source({x}, {y}), 0.25)"),
    "{x}[{mask}] = {n}",
    *("{x}.clamp_(-0.5, 0.5)", "{x}.pow_(2)", "{x} *= {n}", "{x} += source({x}, {y})"),
    *("{x}.requires_grad_({flag})", "{x}.detach_()", "{x}.fill_(source({x}, {y}).sum())"),
    *("{x}.div_(source({x}, {y}).square().add(1))", "{x}.mul_(source({x}, {y}).detach())"),
    *("{x}.add_(source({x}, {y}), alpha={n})", "{x}.fmod_(0.75)", "{x}.remainder_(0.75)"),
    *("{x}.hypot_(source({x}, {y}))", "{x}.addcdiv_({literal}, {positive}, value=2)"),
    *("with T.no_grad():\n    {x}.mul_({n})", "with T.no_grad():\n    {x}.copy_({literal})"),
    *("{x}.cumsum_(0)", "{x}.data.add_({n})", "with T.inference_mode():\n    {x}.mul_({n})"),
)
_REAL_ONLY = ("{x}.cumprod_({d})", "{x}.hypot_(source({x}, {y}))")
"""Writes that complex numbers do not have, or whose gradient by them is refused here."""

_ROWS = (
    "{x}.index_put_(({mask},), T.tensor({n}, dtype={x}.dtype))",
    *("{x}[T.tensor({rows})] = {n}", "{x}[0] = source({x}, {y})[0]", "{x}[{i0}] = {n}"),
    *("{x}.scatter_({d}, {places}, {n})", "{x}.scatter_({d}, {places}, source({x}, {s}))"),
    *("{x}.scatter_add_({d}, {places}, source({x}, {s}))", "{x}[-1:] *= {n}", "{x}[0] += 1"),
    *("{x}.index_put_((T.tensor({rows}),), T.tensor({n}, dtype={x}.dtype), accumulate={flag})",),
    *("{x}[..., 0] += {n}", "{x}[1:].mul_({n})", "{x}.select({d}, {i}).sin_()", "{x}.cumsum_({d})"),
    *("{x}.narrow({d}, {i}, 1).copy_({n} * T.ones(1, dtype={x}.dtype))", "{x}.cumprod_({d})"),
    *("{x}.unbind({d})[{i}].mul_(2)", "{x}.chunk(2)[0].neg_()", "{x}.split(1)[-1].exp_()"),
)
_BINARY = ("add_", "sub_", "mul_", "copy_", "mul_", "add_")


def view(rng: random.Random, known: Known, x: str) -> str:
    """One to three views of a tensor, each of the one before."""
    shape, dtype = known[x]
    pool = [*_ANY]
    if shape:
        pool += _VECTORS * 2
    if len(shape) > 1:
        pool += _MATRICES
    if dtype.startswith("complex") and rng.random() < 0.5:
        pool = [*_COMPLEX]
    text = _fill(rng, rng.choice(pool), known, x)
    if text.startswith("T."):
        return text
    return x + text + "".join(rng.choice(_SAFE) for _ in range(rng.choice([0, 0, 0, 1, 2])))


_SAFE = (
    ".unsqueeze(0)",
    "[...]",
    ".squeeze()",
    ".transpose(0, -1)",
    "[..., :1]",
    ".reshape(-1)",
    "[0]",
)
"""Views that nearly all tensors have."""


def write(rng: random.Random, known: Known, x: str) -> str:
    """Something written to a tensor, often through one more view."""
    if rng.random() < 0.25:
        return f"{x}.{rng.choice(_UNARY)}()"
    shape, dtype = known[x]
    rows = shape and rng.random() < 0.4
    template = rng.choice(_ROWS if rows else _WRITES)
    if template in _REAL_ONLY and dtype.startswith("complex"):
        template = "{x}.mul_({n})"
    return _fill(rng, template, known, x)


def _fill(rng: random.Random, template: str, known: Known, x: str) -> str:
    shape, dtype = known[x]
    ndim, count = len(shape), math.prod(shape)
    d = rng.randrange(-ndim, ndim) if ndim else 0
    e = rng.randrange(ndim) if ndim else 0
    low = rng.randrange(ndim) if ndim else 0
    length = shape[d] if ndim else 1
    number = rng.choice(
        [2, -1, 0.5, 1.5, 0, 1j] if dtype.startswith("complex") else [2, -1, 0.5, 0]
    )
    fitting = [name for name, (other, _) in known.items() if _broadcasts(other, shape)]
    words = {
        "x": x,
        "T": "T.",
        "shape": shape,
        "d": d,
        "e": e,
        "low": low,
        "n": number,
        "y": rng.choice(fitting or [x]),
        "s": rng.choice([name for name, known_as in known.items() if known_as == known[x]]),
        "other": tuple(rng.choice([shape[::-1], (1, count), (count, 1), (1, *shape)])),
        "e2": (d + 1) % ndim if ndim else 0,
        "i": rng.randrange(length) if length else 0,
        "k": rng.randint(0, length),
        "i0": _index(rng, shape, 0),
        "i1": _index(rng, shape, 1),
        "rest": max(length - 1, 0),
        "high": rng.randint(low, max(ndim - 1, low)),
        "order": tuple(rng.sample(range(ndim), ndim)),
        "flag": rng.random() < 0.5,
        "binary": rng.choice(_BINARY),
        "mask": f"T.tensor({_nested([rng.random() < 0.5 for _ in range(count)], shape)})"
        + f".reshape({shape})",
        "literal": f"T.tensor({numbers(rng, count)}, dtype={x}.dtype).reshape({shape})",
        "positive": f"T.tensor({numbers(rng, count, 0.5, 2)}, dtype={x}.dtype).reshape({shape})",
        "rows": [_index(rng, shape, 0) for _ in range(2)],
        "places": _places(rng, shape, d),
    }
    return template.format_map(words)


def _nested(values: list[bool], shape: Shape) -> object:
    return nested(values, shape) if values else []


def _index(rng: random.Random, shape: Shape, dim: int) -> int:
    """A position in a dimension."""
    length = shape[dim] if len(shape) > dim else 1
    return rng.randrange(-length, length) if length else 0


def _places(rng: random.Random, shape: Shape, dim: int) -> str:
    """Positions along a dimension, each once, for every element."""
    length = shape[dim] if shape else 1
    lengths = [1] * len(shape)
    if shape:
        lengths[dim] = length
    order = rng.sample(range(length), length)
    return f"T.tensor({order}, dtype=T.int64).view({lengths}).expand({shape})"


def _broadcasts(shape: Shape, target: Shape) -> bool:
    if len(shape) > len(target):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], target[::-1], strict=False))
