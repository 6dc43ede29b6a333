"""The same calls in this library and in PyTorch, with their derivatives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import gradspec as gs
from gradspec_codegen.spec.model import OpSpec
from tests.ops.cases import (
    WITHOUT_SECOND_DERIVATIVE_IN_PYTORCH,
    Arguments,
    at,
    call,
    call_gradspec,
    convert,
    leaf,
    outputs,
    variables,
)


def _index(self: Any, indices: list[Any]) -> Any:
    return self[tuple(slice(None) if index is None else index for index in indices)]


def _slice_backward(*, end: int | None, **arguments: Any) -> Any:
    end = sys.maxsize if end is None else end
    return torch.ops.aten.slice_backward(end=end, **arguments)


def _pinv(self: Any, rcond: float | None = None, hermitian: bool = False, **options: Any) -> Any:
    if rcond is None:
        return torch.linalg.pinv(self, hermitian=hermitian, **options)
    return torch.linalg.pinv(self, rcond, hermitian)


def _lu_solve(LU: Any, pivots: Any, B: Any, **options: Any) -> Any:
    return torch.linalg.lu_solve(LU, pivots.int(), B, **options)


ONLY_IN_ATEN: dict[str, Callable[..., Any]] = {
    "alias": lambda self: torch.ops.aten.alias(self),
    "index.Tensor": _index,
    "slice.Tensor": torch.ops.aten.slice.Tensor,
    "select_backward": torch.ops.aten.select_backward.default,
    "slice_backward": _slice_backward,
    "diagonal_backward": torch.ops.aten.diagonal_backward,
    "unfold_backward": torch.ops.aten.unfold_backward.default,
    "linalg_pinv": _pinv,
    "linalg_lu_solve": _lu_solve,
    "lu_solve": lambda self, LU_data, LU_pivots: torch.lu_solve(self, LU_data, LU_pivots.int()),
    "index_put": torch.ops.aten.index_put,
    "embedding_dense_backward": torch.ops.aten.embedding_dense_backward.default,
    "log_sigmoid": lambda self: functional.logsigmoid(self),
}
"""Ops of the table that PyTorch's Python functions do not have under this name."""


def call_torch(op: OpSpec, arguments: Arguments) -> Any:
    """Call PyTorch's op."""
    arguments = {
        name: getattr(torch, value.name) if isinstance(value, np.dtype) else value
        for name, value in arguments.items()
    }
    if op.name in ONLY_IN_ATEN:
        return ONLY_IN_ATEN[op.name](**arguments)
    return call(op, arguments, torch, functional)


def _torch_leaf(array: Any, requires_grad: bool) -> torch.Tensor:
    return torch.tensor(np.array(array), requires_grad=requires_grad)


@dataclass(frozen=True)
class Library:
    """The functions of one of the two libraries that a comparison needs."""

    leaf: Callable[[Any, bool], Any]
    call: Callable[[OpSpec, Arguments], Any]
    grad: Callable[..., Any]


GRADSPEC = Library(leaf, call_gradspec, gs.autograd.grad)
TORCH = Library(_torch_leaf, call_torch, torch.autograd.grad)


@dataclass(frozen=True)
class Answer:
    """The results of one call: its outputs, then first and second gradients of a combination."""

    results: list[Any]
    first: list[Any]
    second: list[Any]


WITHOUT_DERIVATIVE: dict[str, tuple[str, ...]] = {
    "igamma": ("self",),
    "igammac": ("self",),
    "heaviside": ("self", "values"),
    **dict.fromkeys(("special_zeta.self_scalar", "special_zeta.other_scalar"), ("self",)),
}
"""Arguments by which PyTorch has no derivative, and this library has."""


def has_derivative(op: OpSpec, name: str) -> bool:
    """Return whether PyTorch differentiates by an argument: not its functions without a node."""
    names = ("bessel", "airy", "polynomial")
    if op.name.startswith("special_") and any(part in op.name for part in names):
        return False
    return name not in WITHOUT_DERIVATIVE.get(op.name, ())


def answer(library: Library, op: OpSpec, arguments: Arguments) -> Answer:
    """Run one call and differentiate it twice."""

    converted = convert(op, arguments, library.leaf, has_derivative)
    result = library.call(op, converted)
    results = list(result) if isinstance(result, tuple | list) else [result]
    places = [place for place in variables(op, arguments) if has_derivative(op, place[0])]
    inputs = at(converted, places)
    roots = [item for item in outputs(op, result) if item.requires_grad]
    if not roots or not inputs:
        return Answer(results, [], [])
    first = _gradients(library, roots, inputs, create_graph=True)
    if op.name in WITHOUT_SECOND_DERIVATIVE_IN_PYTORCH:
        return Answer(results, first, [])
    squares = [item * item for item in first if item is not None and item.requires_grad]
    second = _gradients(library, squares, inputs) if squares else [None] * len(inputs)
    return Answer(results, first, second)


def _gradients(library: Library, roots: list[Any], inputs: list[Any], **options: Any) -> list[Any]:
    """The gradients of a combination that weighs every element differently."""
    weights = [np.cos(1.0 + np.arange(x.numel())).reshape(tuple(x.shape)) for x in roots]
    total = sum(
        (x * library.leaf(w.astype(_numbers(x).dtype), False)).sum()
        for x, w in zip(roots, weights, strict=True)
    )
    if _numbers(total).dtype.kind == "c":
        total = total.real
    return list(library.grad(total, inputs, allow_unused=True, **options))


def assert_same(mine: Any, theirs: Any, what: str, rtol: float = 1e-10) -> None:
    """Equal shape, dtype and (to rounding) values; a missing gradient counts as zeros."""
    if mine is None or theirs is None:
        present = [_numbers(item) for item in (mine, theirs) if item is not None]
        assert all(np.allclose(array, 0, atol=rtol) for array in present), what
        return
    a, b = _numbers(mine), _numbers(theirs)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, PyTorch {b.shape}"
    assert a.dtype == b.dtype, f"{what}: dtype {a.dtype}, PyTorch {b.dtype}"
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol, err_msg=what)


def assert_same_answers(op: OpSpec, arguments: Arguments, rtol: float = 1e-10) -> None:
    """One call and its derivatives are those of PyTorch."""
    mine, theirs = answer(GRADSPEC, op, arguments), answer(TORCH, op, arguments)
    for what in ("results", "first", "second"):
        pairs = zip(getattr(mine, what), getattr(theirs, what), strict=True)
        for position, (a, b) in enumerate(pairs):
            assert_same(a, b, f"{what} {position} of {op.name}", rtol)


def _numbers(value: Any) -> Any:
    return value.numpy(force=True) if isinstance(value, torch.Tensor) else value.detach().numpy()
