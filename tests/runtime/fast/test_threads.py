"""Large arrays are shared among threads, and nobody can tell from the results."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import pytest

import gradspec as gs
from gradspec.fast.parallel_for import along, have_met_large, in_threads
from gradspec.fast.tuning import PARALLEL_ARITHMETIC_MIN, PARALLEL_SORT_MIN, PARALLEL_UFUNC_MIN

SIZE = PARALLEL_ARITHMETIC_MIN + 7

Array: TypeAlias = np.ndarray[Any, Any]

FUNCTIONS = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "exp", "expm1", "log", "log1p", "log2", "log10"),
    *("sigmoid", "erf", "erfc", "lgamma", "digamma"),
)


@pytest.fixture(params=[1, 2, 3, 8])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = gs.get_num_threads()
    gs.set_num_threads(request.param)
    yield request.param
    gs.set_num_threads(before)


def values(name: str, dtype: Any) -> np.ndarray[Any, Any]:
    low, high = (1.1, 3.0) if name == "acosh" else (0.1, 0.9)
    return np.random.default_rng(0).uniform(low, high, SIZE).astype(dtype)


def value_and_gradient(name: str, array: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    x = gs.tensor(array, requires_grad=True)
    y = getattr(gs, name)(x)
    y.backward(gs.ones_like(y))
    assert x.grad is not None
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_large_array_is_as_its_pieces(name: str, dtype: Any, threads: int) -> None:
    """The pieces are small: they take the path that the proofs went."""
    array = values(name, dtype)
    whole = value_and_gradient(name, array)
    pieces = [value_and_gradient(name, piece) for piece in np.array_split(array, 8)]
    for position in (0, 1):
        expected = np.concatenate([piece[position] for piece in pieces])
        assert whole[position].dtype == expected.dtype
        # Vector units round a last bit otherwise where a piece ends.
        np.testing.assert_allclose(whole[position], expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate: str, threads: int) -> None:
    x = gs.linspace(-6, 6, SIZE, dtype=gs.float64).requires_grad_()
    y = gs.nn.functional.gelu(x, approximate=approximate)
    y.sum().backward()
    parts = [gs.tensor(part, requires_grad=True) for part in np.array_split(x.detach().numpy(), 8)]
    outs = [gs.nn.functional.gelu(part, approximate=approximate) for part in parts]
    for out in outs:
        out.sum().backward()
    np.testing.assert_allclose(
        y.detach().numpy(), np.concatenate([o.detach().numpy() for o in outs]), rtol=1e-14
    )
    expected = np.concatenate([part.grad.numpy() for part in parts if part.grad is not None])
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-12, atol=1e-16)


def test_other_layouts_and_dtypes() -> None:
    base = np.random.default_rng(1).uniform(0, 1, (1200, 1400))
    for array in (base.T, base[::2], base[:, ::2], np.broadcast_to(base[0], (600, 1400))):
        np.testing.assert_array_equal(in_threads(np.exp, array), np.exp(array))
    whole = np.arange(SIZE)
    assert in_threads(np.sin, whole).dtype == np.float64
    np.testing.assert_allclose(in_threads(np.sin, whole), np.sin(whole), rtol=1e-14)


def test_several_arrays_and_numbers() -> None:
    a, b = np.random.default_rng(2).uniform(-1, 1, (2, SIZE))
    np.testing.assert_allclose(in_threads(np.arctan2, a, b), np.arctan2(a, b), rtol=1e-15)
    np.testing.assert_allclose(in_threads(np.logaddexp, 0, b), np.logaddexp(0, b), rtol=1e-15)
    short = np.ones((1,))
    np.testing.assert_array_equal(in_threads(np.arctan2, a, short), np.arctan2(a, short))
    rows = a[:PARALLEL_UFUNC_MIN].reshape(2, PARALLEL_UFUNC_MIN // 2)
    np.testing.assert_array_equal(in_threads(np.arctan2, rows[0], rows), np.arctan2(rows[0], rows))


def test_every_thread_takes_a_part() -> None:
    gs.set_num_threads(3)
    seen: set[str] = set()
    together = threading.Barrier(3)

    def function(array: Array, out: Array | None = None) -> Array:
        if array.size and threading.current_thread().name not in seen:  # not to ask for the dtype
            together.wait(timeout=30)
            seen.add(threading.current_thread().name)
        return np.positive(array, out)

    try:
        in_threads(function, np.ones(SIZE))
    finally:
        gs.set_num_threads(os.cpu_count() or 1)
    assert len(seen) == 3


@pytest.mark.parametrize(
    "shape",
    [
        (PARALLEL_SORT_MIN,),
        (2, PARALLEL_SORT_MIN),
        (PARALLEL_SORT_MIN, 2),
        (40, 41, 42),
        (1, PARALLEL_SORT_MIN, 1),
    ],
)
def test_lines_are_left_whole(shape: tuple[int, ...], threads: int) -> None:
    array = np.random.default_rng(0).standard_normal(shape)
    for dim in range(array.ndim):
        order = along(lambda part, dim=dim: part.argsort(dim), array, dim)
        np.testing.assert_array_equal(order, array.argsort(dim))
        found = along(lambda part, dim=dim: (part.max(dim, keepdims=True), -part), array, dim)
        np.testing.assert_array_equal(found[0], array.max(dim, keepdims=True))
        np.testing.assert_array_equal(found[1], -array)


def test_lines_are_shared_among_threads(threads: int) -> None:
    parts: list[tuple[int, ...]] = []

    def function(part: Array) -> Array:
        parts.append(part.shape)
        return part

    along(function, np.ones((PARALLEL_SORT_MIN, 2)), 1)
    assert len(parts) == threads
    assert sum(lines for lines, _ in parts) == PARALLEL_SORT_MIN
    assert {length for _, length in parts} == {2}
    parts.clear()
    along(function, np.ones((PARALLEL_SORT_MIN, 1)), 0)
    assert parts == [(PARALLEL_SORT_MIN, 1)]  # a single line


def test_what_numpy_is_told_about_errors_holds_in_every_thread(threads: int) -> None:
    array = np.ones(SIZE)
    array[-1] = 0.0
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        in_threads(np.log, array)
    with np.errstate(divide="ignore"):
        assert in_threads(np.log, array)[-1] == -np.inf


def test_an_error_in_a_thread_leaves_the_threads_usable(threads: int) -> None:
    def function(array: Array, out: Array | None = None) -> Array:
        if array.size and array[-1] == 0:
            raise ValueError("no")
        return np.positive(array, out)

    array = np.ones(SIZE)
    array[-1] = 0.0
    with pytest.raises(ValueError, match="no"):
        in_threads(function, array)
    np.testing.assert_array_equal(in_threads(np.sqrt, np.ones(SIZE)), np.ones(SIZE))


def test_the_first_large_array_is_remembered(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradspec.fast.parallel_for._workers.have_met_large", False)
    for size, is_large in (
        (PARALLEL_UFUNC_MIN - 1, False),
        (PARALLEL_UFUNC_MIN, True),
        (SIZE, True),
    ):
        in_threads(np.sqrt, np.ones(size))
        assert have_met_large() == is_large


def test_the_number_of_threads() -> None:
    before = gs.get_num_threads()
    assert before >= 1
    gs.set_num_threads(5)
    assert gs.get_num_threads() == 5
    gs.set_num_threads(before)
    for bad in (0, -1):
        with pytest.raises(RuntimeError, match="positive"):
            gs.set_num_threads(bad)
    for wrong in (1.5, "2", True):
        with pytest.raises(TypeError):
            gs.set_num_threads(wrong)  # type: ignore[arg-type]
    assert gs.get_num_threads() == before


def test_a_forked_process_makes_threads_of_its_own() -> None:
    script = f"""
import os
import numpy as np
from gradspec.fast.parallel_for import in_threads

array = np.ones({SIZE})
in_threads(np.exp, array)
child = os.fork()
if child == 0:
    os._exit(0 if (in_threads(np.exp, array) == np.e).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    # Newer Pythons warn of any fork beside threads.
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)
