"""Primitives of forwards: functions that proofs have an exact model of, and nothing else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from scipy import special

from gradspec import kernels
from gradspec_codegen.prove.numeric.evaluate import Point
from gradspec_codegen.prove.symbolic.decisions import tracing
from gradspec_codegen.prove.symbolic.symbols import as_symbols, expressions, sym_array
from gradspec_codegen.spec.primitives import kernel, kernel_modules, primitives

Mistakes = Callable[..., list[tuple[str, str]]]

VALUES = [sympy.Rational(text) for text in ("3/10", "1/8", "1/4", "1/2", "5/8", "7/9")]
"""Within the domain of every function, but one."""
SYMBOLS = sympy.symbols("x_:6", real=True)
MATRIX = [sympy.Rational(text) for text in ("2", "1/3", "1/3", "3/2")]

OF_INTEGERS = ("np.bitwise_and", "np.bitwise_or", "np.bitwise_xor", "np.bitwise_not", "np.invert")

CALLS = {
    "np.amax": lambda x, m: np.amax(x, 1, keepdims=True),
    "np.amin": lambda x, m: np.amin(x, 0),
    "np.argmax": lambda x, m: np.argmax(x, 1),
    "np.argmin": lambda x, m: np.argmin(x, 1, keepdims=True),
    "np.argsort": lambda x, m: np.argsort(x, 0),
    "np.broadcast_to": lambda x, m: np.broadcast_to(x, (4, 2, 3)),
    "np.clip": lambda x, m: np.clip(x, 0.2, 0.6),
    "np.concatenate": lambda x, m: np.concatenate((x, x), 1),
    "np.copy": lambda x, m: np.copy(x, subok=True),
    "np.cumprod": lambda x, m: np.cumprod(x, 1),
    "np.cumsum": lambda x, m: np.cumsum(x, 0),
    "np.diagonal": lambda x, m: np.diagonal(x, 1, 0, 1),
    "np.dot": lambda x, m: np.dot(m, x),
    "np.expand_dims": lambda x, m: np.expand_dims(x, 1),
    "np.flip": lambda x, m: np.flip(x, 1),
    "np.full_like": lambda x, m: np.full_like(x, 0.5, shape=(2, 2)),
    "np.matmul": lambda x, m: np.matmul(m, x),
    "np.max": lambda x, m: np.max(x, 1, keepdims=True),
    "np.mean": lambda x, m: np.mean(x, 1, keepdims=True),
    "np.min": lambda x, m: np.min(x),
    "np.moveaxis": lambda x, m: np.moveaxis(x, 0, 1),
    "np.ones_like": lambda x, m: np.ones_like(x),
    "np.outer": lambda x, m: np.outer(x, m),
    "np.prod": lambda x, m: np.prod(x, 0, keepdims=True),
    "np.ravel": lambda x, m: np.ravel(x),
    "np.repeat": lambda x, m: np.repeat(x, 2, 0),
    "np.reshape": lambda x, m: np.reshape(x, (3, 2)),
    "np.roll": lambda x, m: np.roll(x, 1, 1),
    "np.sort": lambda x, m: np.sort(x, 0),
    "np.squeeze": lambda x, m: np.squeeze(x[:1], 0),
    "np.stack": lambda x, m: np.stack((x, x), 1),
    "np.sum": lambda x, m: np.sum(x, 1, keepdims=True),
    "np.swapaxes": lambda x, m: np.swapaxes(x, 0, 1),
    "np.take": lambda x, m: np.take(x, [1, 1, 0], 0),
    "np.take_along_axis": lambda x, m: np.take_along_axis(x, np.array([[2], [0]]), 1),
    "np.tensordot": lambda x, m: np.tensordot(m, x, 1),
    "np.tile": lambda x, m: np.tile(x, (2, 1)),
    "np.trace": lambda x, m: np.trace(m),
    "np.transpose": lambda x, m: np.transpose(x, (1, 0)),
    "np.tril": lambda x, m: np.tril(x, 1),
    "np.triu": lambda x, m: np.triu(x, 1),
    "np.where": lambda x, m: np.where(x > 0.4, x, -x),
    "np.zeros_like": lambda x, m: np.zeros_like(x),
    "sp.zeta": lambda x, m: special.zeta(2, x),
    "np.fft.fftn": lambda x, m: np.fft.fftn(x, axes=(0, 1)),
    "np.fft.ifftn": lambda x, m: np.fft.ifftn(x, axes=(1,), norm="forward"),
    "np.fft.irfftn": lambda x, m: np.fft.irfftn(x, s=(4,), axes=(1,), norm="forward"),
    "np.fft.rfftn": lambda x, m: np.fft.rfftn(x, axes=(0, 1)),
    "np.linalg.det": lambda x, m: np.linalg.det(m),
    "np.linalg.inv": lambda x, m: np.linalg.inv(m),
    "np.linalg.pinv": lambda x, m: np.linalg.pinv(x),
    "np.linalg.slogdet": lambda x, m: np.linalg.slogdet(m),
    "np.linalg.solve": lambda x, m: np.linalg.solve(m, x),
}
BY_FACTORS = {"np.linalg.cholesky", "np.linalg.eigh"}
"""Functions of matrices that examples give by factors: `prove/test_parametrize.py` tests them."""


def both(call: Callable[..., Any], *operands: tuple[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Return a call's result on symbols, at the point they stand for, and on floats."""
    point = Point(dict(zip(SYMBOLS, VALUES, strict=True)))
    with tracing(point):
        exact = call(*(symbols for symbols, _ in operands))
    found = call(*(floats for _, floats in operands))
    exact, found = (a if isinstance(a, tuple) else (a,) for a in (exact, found))
    return [values(part, point) for part in exact], [np.asarray(part) for part in found]


def values(array: Any, point: Point) -> np.ndarray[Any, Any]:
    exact = expressions(as_symbols(array))
    return np.array([complex(point.value(e)) for e in exact.flat]).reshape(exact.shape)


def with_floats(elements: list[Any], numbers: list[Any], shape: tuple[int, ...]) -> tuple[Any, Any]:
    return sym_array(elements, shape), np.array([float(n) for n in numbers]).reshape(shape)


X = with_floats(list(SYMBOLS), VALUES, (2, 3))
M = with_floats(MATRIX, MATRIX, (2, 2))
ROW, OTHER = (with_floats(list(SYMBOLS)[a:b], VALUES[a:b], (3,)) for a, b in ((0, 3), (3, 6)))
ABOVE_ONE = (ROW[0] + 1, ROW[1] + 1)


def function(name: str) -> Any:
    found: Any = {"np": np, "sp": special}[name.split(".")[0]]
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


ELEMENTWISE = {name: known for name, known in primitives().items() if known.is_elementwise}


@pytest.mark.parametrize("name", [n for n in ELEMENTWISE if n not in OF_INTEGERS])
def test_an_elementwise_primitive_is_its_model(name: str) -> None:
    ufunc = function(name)
    assert isinstance(ufunc, np.ufunc)
    assert ufunc.nin == len(ELEMENTWISE[name].positional)
    operands = [ABOVE_ONE if name == "np.arccosh" else ROW, OTHER][: ufunc.nin]
    exact, found = both(ufunc, *operands)
    np.testing.assert_allclose(exact[0], found[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_symbols_are_no_integers_to_operate_on_bits(name: str) -> None:
    with pytest.raises(RuntimeError, match="has no exact model"):
        function(name)(*[ROW[0]] * len(ELEMENTWISE[name].positional))


def test_every_primitive_of_arrays_is_tried() -> None:
    assert primitives().keys() - ELEMENTWISE == CALLS.keys() | BY_FACTORS


@pytest.mark.parametrize("name", CALLS)
def test_a_primitive_of_arrays_runs_on_symbols(name: str) -> None:
    exact, found = both(CALLS[name], X, M)
    for one, other in zip(exact, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)


def test_the_kernels_are_those_of_the_runtime() -> None:
    assert {name.removeprefix("kernels.") for name in kernel_modules()} == set(
        " ".join(kernels._NAMES.values()).split()
    )


@pytest.mark.parametrize("name", ["softmax", "convolution", "median", "where", "var"])
def test_a_kernel_is_called_as_it_is_defined(name: str) -> None:
    known = kernel(f"kernels.{name}")
    assert known is not None
    written = [p for p in inspect.signature(getattr(kernels, name)).parameters if p != "out"]
    assert list(known.named) == written


ENTRY = """
- name: mine(Tensor self) -> Tensor
  doc: An op.
  forward: {forward}
  self: grad
  result: auto_element_wise
  promotes: self
"""

REFUSED = [
    ("np.savetxt('stolen.txt', self)", "GS035", "np.savetxt"),
    ("np.load('evil.npy', allow_pickle=True)", "GS035", "np.load"),
    ("self * len(np.memmap('p.txt', mode='w+', shape=3).shape)", "GS035", "np.memmap"),
    ("np.fromfile('secret')", "GS035", "np.fromfile"),
    ("np.tofile(self, 'x')", "GS035", "np.tofile"),
    ("np.frompyfunc(self, 1, 1)", "GS035", "np.frompyfunc"),
    ("np.vectorize(self)", "GS035", "np.vectorize"),
    ("np.apply_along_axis(self, 0, self)", "GS035", "np.apply_along_axis"),
    ("np.linalg.LinAlgError(self)", "GS035", "np.linalg.LinAlgError"),
    ("np.lib.format.open_memmap('x')", "GS035", "np.lib.format.open_memmap"),
    ("np.ctypeslib.load_library('x', '.')", "GS035", "np.ctypeslib.load_library"),
    ("np.zeros((10**9, 10**9))", "GS035", "np.zeros"),
    ("np.random.rand(3)", "GS035", "np.random.rand"),
    ("np.seterrcall(self)", "GS035", "np.seterrcall"),
    ("np.sin.reduce(self)", "GS035", "np.sin.reduce"),
    ("np.add.at(self, 0, self)", "GS035", "np.add.at"),
    ("np.copyto(self, 0)", "GS035", "np.copyto"),
    ("sp.test(self)", "GS035", "sp.test"),
    ("sp.spence(self)", "GS035", "sp.spence"),
    ("sp.linalg.inv(self)", "GS035", "sp.linalg.inv"),
    ("kernels.annotations(self)", "GS035", "kernels.annotations"),
    ("kernels.attach(self, self)", "GS035", "kernels.attach"),
    ("kernels.linalg.np.save('x', self)", "GS035", "kernels.linalg.np.save"),
    ("np.sin(self, self)", "GS036", "np.sin(self, self)"),
    ("np.sin(self, out=self)", "GS036", "np.sin(self, out=self)"),
    ("np.sin(self, where=self > 0)", "GS036", "np.sin(self, where=self > 0)"),
    ("np.sin(self, dtype='O')", "GS036", "np.sin(self, dtype='O')"),
    ("np.sum(self, out=self)", "GS036", "np.sum(self, out=self)"),
    ("np.sum(self, 0, None, self)", "GS036", "np.sum(self, 0, None, self)"),
    ("np.sum()", "GS036", "np.sum()"),
    ("np.sum(self, a=self)", "GS036", "np.sum(self, a=self)"),
    ("kernels.where(self > 0, self, self, self)", "GS036", None),
    ("kernels.where(self > 0, self, self, out=self)", "GS036", None),
    ("kernels.softmax(self)", "GS036", None),
    ("self.tofile('x')", "GS035", None),
    ("self.shape.index(2)", "GS031", "self.shape.index"),
    ("self.ctypes", "GS031", "self.ctypes"),
    ("np.sin", "GS031", "np.sin"),
]


@pytest.mark.parametrize(("forward", "code", "place"), REFUSED, ids=[row[0] for row in REFUSED])
def test_nothing_else_can_be_named(
    forward: str, code: str, place: str | None, mistakes: Mistakes, tmp_path: Path
) -> None:
    assert mistakes(ENTRY.format(forward=f'"{forward}"')) == [(code, place or forward)]
    assert [path.name for path in tmp_path.iterdir()] == ["ops.yaml"]
