"""Small things that PyTorch refuses, or takes, one of a kind."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

NUMBERS = [2, 2.5, 1j, 1 + 0j, True, 1e300, float("nan"), float("inf")]


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_a_number_has_to_fit_into_a_scalar_tensor(torch: Any, number: Any, dtype: str) -> None:
    assert_same(lambda lib: lib.scalar_tensor(number, dtype=getattr(lib, dtype)), torch)


def _written(library: Any, index: Any, value: Any) -> Any:
    written = library.arange(12.0).view(3, 4)
    written[index] = library.tensor(value) if value is not None else library.ones(2, 3, 4)
    return written


@pytest.mark.parametrize("index", [True, False, (True,)], ids=str)
@pytest.mark.parametrize("value", [3, [1.0, 2.0], [1, 2, 3, 4], None], ids=str)
def test_a_flag_as_the_index_of_a_write(torch: Any, index: Any, value: Any) -> None:
    assert_same(lambda library: _written(library, index, value), torch)


@pytest.mark.parametrize("name", ["cumsum_", "cumprod_"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float32"])
@pytest.mark.parametrize("asked", [None, "int32", "int64", "float32", "float64"])
def test_scans_in_place_have_one_dtype(torch: Any, name: str, dtype: str, asked: Any) -> None:
    def scan(library: Any) -> Any:
        given = library.tensor([1, 2]).to(getattr(library, dtype))
        return getattr(given, name)(0, dtype=getattr(library, asked) if asked else None)

    assert_same(scan, torch)


UNKNOWN: dict[str, Any] = {
    "bernoulli": lambda lib: lib.bernoulli(lib.tensor([float("nan")])),
    "bernoulli_": lambda lib: lib.ones(2).bernoulli_(float("nan")),
    "bernoulli_ of tensors": lambda lib: lib.ones(1).bernoulli_(lib.tensor([float("nan")])),
    "poisson": lambda lib: lib.poisson(lib.tensor([float("nan")])),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_is_drawn_with_unknown_chances(torch: Any, name: str) -> None:
    assert_same(UNKNOWN[name], torch)


RESULTS: dict[str, Any] = {
    "nothing": (lambda x: None, 0),
    "beside another": (lambda x: (x, None), 0),
    "in a dictionary": (lambda x: {"a": x, "b": None}, 0),
    "deeper": (lambda x: (x, (x, None)), (0, 0)),
    "meant": (lambda x: (x, None), (0, None)),
    "meant, deeper": (lambda x: (x, (x, None)), (0, (0, None))),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_vmap_that_are_none(torch: Any, name: str) -> None:
    function, dims = RESULTS[name]
    assert_same(lambda lib: lib.func.vmap(function, out_dims=dims)(lib.arange(3.0)), torch)


COMPARISONS = ["eq_", "ne_", "lt_", "le_", "gt_", "ge_", "less_", "greater_equal_", "not_equal_"]


@pytest.mark.parametrize("beside", ["number", "tensor"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_in_place_have_a_node(torch: Any, name: str, beside: str) -> None:
    def run(library: Any) -> Any:
        x = library.tensor([0.5, -1.0, 2.0], requires_grad=True)
        y = x.clone()
        getattr(y, name)(library.zeros(3) if beside == "tensor" else 0.5)
        return y, y.grad_fn.name(), library.autograd.grad(y.sum(), x)

    assert_same(run, torch)


COPIES: dict[str, Any] = {
    "copy_": lambda y, x: y.copy_(x),
    "a view": lambda y, x: y.view(2, 1)[1].copy_(x[:1]),
    "an index": lambda y, x: y.__setitem__(0, x[1]),
    "a slice": lambda y, x: y.__setitem__(slice(1), x[:1]),
    "real": lambda y, x: setattr(y, "real", x),
}


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float64", "complex64"])
@pytest.mark.parametrize("way", COPIES)
def test_what_is_copied_from_floats_with_a_gradient(torch: Any, way: str, dtype: str) -> None:
    def run(library: Any) -> Any:
        x = library.tensor([1.5, 2.5], requires_grad=True)
        y = library.zeros(2, dtype=getattr(library, dtype))
        COPIES[way](y, x)
        return y.detach(), y.requires_grad, y.grad_fn and y.grad_fn.name()

    assert_same(run, torch)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", "complex128"])
def test_conversions_of_complex_numbers(torch: Any, dtype: str) -> None:
    def run(library: Any) -> Any:
        z = library.tensor([[1j, 0j, 1.0], [2 - 1j, -1j, -0.5j]]).t()
        chosen = getattr(library, dtype)
        made = [z.to(chosen), z.type(chosen), library.as_tensor(z, dtype=chosen)]
        return made, [tensor.stride() for tensor in made]

    assert_same(run, torch)


def test_gradients_of_complex_results_and_modules_in_plain_dicts(torch: Any) -> None:
    assert_same(lambda lib: lib.func.grad(lambda x: (x * 1j).sum())(lib.ones(2)), torch)
    assert_same(lambda lib: lib.func.grad(lambda z: (z * z).abs().sum())(lib.ones(2) + 1j), torch)
    assert_same(lambda lib: lib.nn.Sequential({"a": lib.nn.ReLU()}), torch)


@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_an_empty_index_takes_values_of_the_same_dtype(torch: Any, name: str, dtype: str) -> None:
    def behaviour(library: Any) -> Any:
        index = library.zeros(0, 2, dtype=library.int64)
        values = library.ones(2, 2, dtype=getattr(library, dtype))
        return getattr(library.zeros(2, 2), name)(0, index, values)

    assert_same(behaviour, torch)
