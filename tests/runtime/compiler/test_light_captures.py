"""Captures of large arrays, which compute none of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.light import LIGHT_FROM, blank, blank_result, of_one_example
from gradspec.compiler.steps import function_of

from .comparing import assert_same


def arrays() -> list[Any]:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(260, 300))
    deep = rng.normal(size=(20, 30, 50))
    return [
        *(whole, whole.T, np.asfortranarray(whole), whole[::-1], whole[:, ::-1]),
        *(whole.astype(np.float32), whole.astype(np.complex64), whole > 0),
        *(whole.round().astype(np.int32), deep, deep.transpose(2, 0, 1), deep.swapaxes(0, 1)),
    ]


@pytest.mark.parametrize("number", range(12))
def test_zeros_lie_as_the_array_does(number: int) -> None:
    given = arrays()[number]
    found = blank(given)
    assert (found.shape, found.strides, found.dtype) == (given.shape, given.strides, given.dtype)


@pytest.mark.parametrize("name", ["add", "multiply", "less", "arctan2", "maximum", "subtract"])
def test_results_that_are_not_computed_lie_as_those_that_are(name: str) -> None:
    checked = 0
    for one in arrays():
        for other in [*arrays(), 2, 2.5, np.float32(2), np.ones(one.shape[-1:]), np.ones(())]:
            try:
                expected = function_of(f"np.{name}")(one, other)
            except (ValueError, TypeError):
                continue
            found = blank_result(f"np.{name}", (one, other), {})
            if found is None:
                assert expected.nbytes < LIGHT_FROM
                continue
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            assert found.strides == expected.strides
            checked += 1
    assert checked > 50


def test_products_that_are_not_computed_lie_as_those_that_are() -> None:
    for one in (each for each in arrays() if each.ndim == 2):
        for other in (each for each in arrays() if each.ndim == 2):
            found = blank_result("np.matmul", (one, other.T), {})
            if found is None:
                continue
            expected = one @ other.T
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            assert found.strides == expected.strides


def test_a_capture_takes_no_memory_for_large_arrays() -> None:
    x, scale = gs.ones(1000, 1000), gs.ones(1000, 1000, requires_grad=True)

    def function(x: gs.Tensor) -> Any:
        for _ in range(20):
            x = x.sin() * scale + 1
        return x.sum()

    run = gs.compile(function, backend="c")
    run.entry_for(gs.ones(1000, 1000)[:1])  # what is imported and built for all
    rss_before = resident()
    run.entry_for(x)
    assert resident() - rss_before < 30e6  # eager holds 40 arrays of 4 MB
    assert_same(run(x).detach(), function(x).detach(), 1e-4)


def resident() -> int:
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def laid_out(shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """Zeros whose dimensions lie in an order in memory."""
    return np.zeros([shape[dim] for dim in order]).transpose(np.argsort(order))


def test_batches_of_products_that_are_not_computed_lie_as_those_that_are() -> None:
    checked = 0
    for one, other in itertools.product(itertools.permutations(range(4)), repeat=2):
        for batch in ((2, 3), (1, 3), (1, 1)):
            a, b = laid_out((2, 3, 40, 60), one), laid_out((*batch, 60, 50), other)
            for first, second in ((a, b), (b.swapaxes(-1, -2), a.swapaxes(-1, -2))):
                found = blank_result("np.matmul", (first, second), {})
                assert found is not None
                expected = first @ second
                assert found.shape == expected.shape
                assert found.strides == expected.strides
                checked += 1
    assert checked == 2 * 3 * 24**2


def test_a_small_product_of_large_factors_is_not_computed() -> None:
    one, other = np.ones((3, 60_000)), np.ones((60_000, 5))
    found = blank_result("np.dot", (one, other), {})
    assert found is not None
    assert (found.shape, found.strides, found.any()) == ((3, 5), (40, 8), False)
    assert blank_result("np.dot", (one[:, :9], other[:9]), {}) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["normal_cdf", "gelu_slope"])
def test_kernels_of_elements_lie_as_those_that_are_computed(name: str, dtype: Any) -> None:
    x = np.zeros((40, 50, 60), dtype)
    args = (x,) if name == "normal_cdf" else (x, x + 1, 0.25)
    found = blank_result(f"kernels.{name}", args, {})
    wanted = function_of(f"kernels.{name}")(*args)
    assert found is not None
    assert (found.shape, found.strides, found.dtype) == (wanted.shape, wanted.strides, wanted.dtype)
    assert blank_result(f"kernels.{name}", (x.T, *args[1:]), {}) is None


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (1, 0, 2, 3), (3, 2, 1, 0)])
@pytest.mark.parametrize(("transposed", "groups"), [(False, 1), (False, 2), (True, 1)])
@pytest.mark.parametrize("name", ["convolution", "convolution_input"])
def test_kernels_of_examples_lie_as_those_of_two(
    name: str, transposed: bool, groups: int, order: tuple[int, ...]
) -> None:
    if name == "convolution":
        x = laid_out((33, 4, 20, 20), order)
        weight = np.ones((4, 6, 3, 3) if transposed else (6, 4 // groups, 3, 3))
        args: tuple[Any, ...] = (x, weight, None, 1, 1, 1, transposed, 0, groups, 2, "")
    else:
        x = laid_out((33, 6, 20, 20), order)
        weight = np.ones((4, 6, 3, 3) if transposed else (6, 4 // groups, 3, 3))
        args = (x, weight, (33, 4, 20, 20), 1, 1, 1, transposed, groups, "")
    found = blank_result(f"kernels.{name}", args, {})
    wanted = function_of(f"kernels.{name}")(*args)
    assert found is not None
    assert (found.shape, found.strides, found.dtype) == (wanted.shape, wanted.strides, wanted.dtype)


FACTORISATIONS: dict[str, tuple[Any, ...]] = {
    "cholesky": (False,),
    "cholesky_ex": (True, False),
    "cholesky_inverse": (False,),
    "eigh": ("L",),
    "inv_ex": (True,),
    "lu": (True,),
    "lu_factor_ex": (True, True),
    "pinv": (None, False, None, None),
    "qr": ("complete",),
    "svd": (False,),
}
SQUARE = {"cholesky", "cholesky_ex", "cholesky_inverse", "eigh", "inv_ex"}


def matrices(shape: tuple[int, ...], order: tuple[int, ...], dtype: Any) -> Any:
    made = laid_out(shape, order).astype(dtype)
    made[...] = np.random.default_rng(0).standard_normal(shape) / 9 + 9 * np.eye(*shape[-2:])
    return (made + made.mT.conj()) / 2 if shape[-1] == shape[-2] else made


def assert_lies_as_computed(name: str, args: tuple[Any, ...]) -> None:
    found = blank_result(f"kernels.{name}", args, {})
    wanted = function_of(f"kernels.{name}")(*args)
    assert found is not None
    pairs = [(found, wanted)] if isinstance(wanted, np.ndarray) else zip(found, wanted, strict=True)
    for ours, theirs in pairs:
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert ours.strides == theirs.strides


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factors_that_are_not_computed_lie_as_those_that_are(
    name: str, dtype: Any, order: tuple[int, ...]
) -> None:
    for shape in ((2, 100, 100), (1, 130, 130), (4, 70, 90), (3, 90, 70), (30000, 1, 1)):
        if shape[-1] == shape[-2] or name not in SQUARE:
            assert_lies_as_computed(name, (matrices(shape, order, dtype), *FACTORISATIONS[name]))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_solutions_that_are_not_computed_lie_as_those_that_are(order: tuple[int, ...]) -> None:
    square = matrices((150, 150), order, float)
    for flags in itertools.product((False, True), repeat=3):
        for columns in (1, 3, 150, 200):
            right = laid_out((150, columns), order) + 1
            given = right if flags[1] else right.mT
            assert_lies_as_computed("solve_triangular", (square, given, *flags))
            assert_lies_as_computed("solve_ex", (square, given, flags[1], True))
            assert_lies_as_computed("cholesky_solve", (right, square, flags[0]))
    assert_lies_as_computed("solve_ex", (square, np.ones(150), True, True))


def test_a_capture_factors_no_large_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    known = np.linalg.cholesky

    def seen(matrix: Any) -> Any:
        sizes.append(len(matrix))
        return known(matrix)

    monkeypatch.setattr(np.linalg, "cholesky", seen)
    x = 120 * gs.eye(120, dtype=gs.float64, requires_grad=True)
    gs.compile(gs.linalg.cholesky, backend="c").entry_for(x)
    assert sizes
    assert max(sizes) < 10


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_what_a_kernel_has_to_have_is_computed(backend: str) -> None:
    gs.manual_seed(0)
    root = gs.randn(120, 120, dtype=gs.float64)

    def function(x: gs.Tensor) -> gs.Tensor:
        return gs.linalg.cholesky(x @ x.mT + 120 * gs.eye(120, dtype=gs.float64)).diagonal()

    assert_same(gs.compile(function, backend=backend)(root), function(root), 1e-12)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_writes_to_large_arrays_are_recorded(backend: str) -> None:
    x, total = gs.rand(200, 200), gs.zeros(200, 200)

    def function(x: gs.Tensor) -> gs.Tensor:
        y = x * 2
        y[10:20] = 1
        y.t()[3].add_(x[5])
        total.add_(y)
        return y.cumsum(0)

    found = gs.compile(function, backend=backend)(x)
    ours = total.clone()
    total.zero_()
    assert_same(found, function(x), 1e-4)
    assert_same(ours, total, 1e-6)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_of_kernels_lie_as_those_of_one_example(transposed: bool, groups: int) -> None:
    x, grad = np.zeros((64, 4, 9, 9), np.float32), np.zeros((64, 6, 7, 7), np.float32)
    given = (x, grad) if transposed else (grad, x)
    shape = (6, 4 // groups, 3, 3)
    args = (*given, shape, 1, 0, 1, transposed, groups, "")
    name = "kernels.convolution_weight"
    few = of_one_example(name, args)
    assert [len(each) for each in few[:2]] == [1, 1]
    found, wanted = function_of(name)(*few), function_of(name)(*args)
    assert (found.shape, found.strides, found.dtype) == (wanted.shape, wanted.strides, wanted.dtype)
    assert np.array_equal(found, wanted)
