"""Python numbers beside integer tensors, and results of integers, are those of PyTorch."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

Form = Callable[[Any, Any, Any], Any]
"""A function of a library, a tensor and a number."""

DTYPES = ("uint8", "int8", "int32", "int64", "bool", "float32")
NUMBERS = (-3, 3, 300, -129, -256, 2**31, 2**40, 2**63 - 1, -(2**63))


def _written(lib: Any, x: Any, place: Any, number: Any) -> Any:
    copy = x.clone()
    copy[place] = number
    return copy


_OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge")
_IN_PLACE = ("add_", "sub_", "mul_", "remainder_", "clamp_", "fill_")
_FUNCTIONS = (
    "remainder",
    "fmod",
    "rsub",
    "clamp_min",
    "clamp_max",
    "full_like",
    "pow",
    "bitwise_and",
)

FORMS: dict[str, Form] = {
    **{f"x {o} n": lambda lib, x, n, o=o: getattr(operator, o)(x, n) for o in _OPERATORS},
    **{f"n {o} x": lambda lib, x, n, o=o: getattr(operator, o)(n, x) for o in _OPERATORS},
    **{f"x.{m}": lambda lib, x, n, m=m: getattr(x.clone(), m)(n) for m in _IN_PLACE},
    **{f: lambda lib, x, n, f=f: getattr(lib, f)(x, n) for f in _FUNCTIONS},
    "clamp": lambda lib, x, n: x.clamp(n, 5),
    "where": lambda lib, x, n: lib.where(x > 4, x, n),
    "where of a number": lambda lib, x, n: lib.where(x > 4, n, x),
    "full": lambda lib, x, n: lib.full((2,), n, dtype=x.dtype),
    "new_full": lambda lib, x, n: x.new_full((2,), n),
    "tensor": lambda lib, x, n: lib.tensor([n], dtype=x.dtype),
    "masked_fill": lambda lib, x, n: x.masked_fill(x == x, n),
    "index_fill": lambda lib, x, n: x.index_fill(0, lib.tensor([0]), n),
    "scatter": lambda lib, x, n: x.scatter(0, lib.tensor([0]), n),
    "x[0] = n": lambda lib, x, n: _written(lib, x, 0, n),
    "x[[0]] = n": lambda lib, x, n: _written(lib, x, [0], n),
    "x[mask] = n": lambda lib, x, n: _written(lib, x, x == x, n),
    "add, alpha": lambda lib, x, n: lib.add(x, x, alpha=n),
    "addcmul": lambda lib, x, n: lib.addcmul(x, x, x, value=n),
    "addmv": lambda lib, x, n: lib.addmv(x, lib.outer(x, x), x, alpha=n),
    "addmm": lambda lib, x, n: lib.addmm(x, lib.outer(x, x), lib.outer(x, x), beta=n),
    "index_add": lambda lib, x, n: lib.index_add(x, 0, lib.tensor([0]), x[:1], alpha=n),
    "threshold": lambda lib, x, n: lib.nn.functional.threshold(x, 6, n),
}

OVERFLOWING = ("full", "new_full", "full_like", "x.fill_", "masked_fill")


def _outcome(form: Form, lib: Any, dtype: str, number: Any) -> Any:
    try:
        result = form(lib, lib.tensor([5, 7], dtype=getattr(lib, dtype)), number)
    except Exception as error:
        return error
    return result


def _assert_same(mine: Any, theirs: Any, what: str) -> None:
    if isinstance(theirs, Exception):
        # What PyTorch lacks a kernel for may work here.
        expected = Exception if isinstance(theirs, NotImplementedError) else type(theirs)
        if expected is not Exception:
            assert isinstance(mine, expected), f"{what}: {mine!r}, PyTorch {theirs!r}"
        return
    assert not isinstance(mine, Exception), f"{what}: {mine!r}, PyTorch {theirs!r}"
    a, b = mine.numpy(), theirs.numpy()
    assert a.dtype == b.dtype, f"{what}: {a.dtype}, PyTorch {b.dtype}"
    np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=what)


@pytest.mark.parametrize("name", FORMS)
def test_integer(name: str) -> None:
    import torch

    for dtype in DTYPES:
        for number in NUMBERS:
            outcomes = [_outcome(FORMS[name], lib, dtype, number) for lib in (gs, torch)]
            _assert_same(*outcomes, f"{name} of {dtype}, n = {number}")


@pytest.mark.parametrize("name", OVERFLOWING)
@pytest.mark.parametrize("number", [1e39, -1e39, float("inf"), 1.5])
def test_float(name: str, number: float) -> None:
    """A number that is too large for the floats or the integers it is to stand among is refused."""
    import torch

    for dtype in ("float32", "float64", "int32"):
        outcomes = [_outcome(FORMS[name], lib, dtype, number) for lib in (gs, torch)]
        _assert_same(*outcomes, f"{name} of {dtype}, n = {number}")


def _arange(lib: Any, count: int, shape: tuple[int, ...], dtype: str) -> Any:
    return (-lib.arange(count)).reshape(shape).to(getattr(lib, dtype))


RESULTS: dict[str, Callable[[Any, str], Any]] = {
    "sum_to_size": lambda lib, d: lib.ones(300, dtype=getattr(lib, d)).sum_to_size(1),
    "sum_to_size of rows": lambda lib, d: lib.ones(2, 300, dtype=getattr(lib, d)).sum_to_size(300),
    "sum_to_size of all": lambda lib, d: lib.ones(3, dtype=getattr(lib, d)).sum_to_size(3),
    "avg_pool1d": lambda lib, d: lib.nn.functional.avg_pool1d(_arange(lib, 7, (1, 1, 7), d), 2, 1),
    "avg_pool2d": lambda lib, d: lib.nn.functional.avg_pool2d(
        _arange(lib, 8, (1, 1, 2, 4), d), 2, 1, 1, False, False
    ),
    "avg_pool3d": lambda lib, d: lib.nn.functional.avg_pool3d(
        _arange(lib, 8, (1, 1, 2, 2, 2), d), 2
    ),
    "local_response_norm": lambda lib, d: lib.nn.functional.local_response_norm(
        _arange(lib, 12, (1, 3, 4), d), 2
    ),
    "addmv": lambda lib, d: _scaled(lib, d, "addmv", (2,), (2, 2), (2,)),
    "addmm": lambda lib, d: _scaled(lib, d, "addmm", (2, 2), (2, 2), (2, 2)),
    "addbmm": lambda lib, d: _scaled(lib, d, "addbmm", (2, 2), (2, 2, 2), (2, 2, 2)),
    "baddbmm": lambda lib, d: _scaled(lib, d, "baddbmm", (2, 2, 2), (2, 2, 2), (2, 2, 2)),
    "addr": lambda lib, d: _scaled(lib, d, "addr", (2, 2), (2,), (2,)),
    "margin_ranking_loss": lambda lib, d: lib.nn.functional.margin_ranking_loss(
        *(lib.ones(2, dtype=getattr(lib, d)),) * 3
    ),
    "sign": lambda lib, d: lib.sign(lib.ones(2, dtype=getattr(lib, d))),
    "isclose": lambda lib, d: lib.isclose(*(lib.ones(2, dtype=getattr(lib, d)),) * 2),
    "remainder": lambda lib, d: lib.remainder(*(lib.tensor([0, 1], dtype=getattr(lib, d)),) * 2),
}


def _scaled(lib: Any, dtype: str, name: str, *shapes: tuple[int, ...]) -> Any:
    tensors = [lib.ones(shape, dtype=getattr(lib, dtype)) for shape in shapes]
    return getattr(lib, name)(*tensors, beta=2.5, alpha=0.5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", RESULTS)
def test_result_of_integers(name: str, dtype: str) -> None:
    import torch

    outcomes: list[Any] = []
    for lib in (gs, torch):
        try:
            outcomes.append(RESULTS[name](lib, dtype))
        except Exception as error:
            outcomes.append(error)
    _assert_same(*outcomes, f"{name} of {dtype}")


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "v @ v": lambda lib, m: m[0] @ m[0],
    "m @ m": lambda lib, m: m @ m,
    "m @ v": lambda lib, m: m @ m[0],
    "batches": lambda lib, m: m[None] @ m[None],
    "broadcast": lambda lib, m: m[None, None] @ m[None],
    "addmm": lambda lib, m: lib.addmm(m, m, m),
    "addmv": lambda lib, m: lib.addmv(m[0], m, m[0]),
    "einsum": lambda lib, m: lib.einsum("ij,jk->ik", m, m),
    "linear": lambda lib, m: lib.nn.functional.linear(m, m),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_bools_are_refused(name: str) -> None:
    import torch

    for lib in (gs, torch):
        with pytest.raises(NotImplementedError, match="not implemented for 'Bool'"):
            PRODUCTS[name](lib, lib.ones(2, 2, dtype=lib.bool))


INDICES: dict[str, tuple[Any, Any]] = {
    "a list": ([0, 1], [2.0, 3.0]),
    "a list, one element": ([0, 1], 2.0),
    "a mask": ([True, False, True], [2.0, 3.0]),
    "a mask, one element": ([True, False, True], 2.0),
    "a slice": (slice(0, 2), [2.0, 3.0]),
    "an integer": (0, 2.0),
}


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("dtype", ["float64", "int64", "float16"])
def test_writing_another_dtype(name: str, dtype: str, recorded: bool) -> None:
    """By positions both dtypes must be the same."""
    import torch

    place, data = INDICES[name]
    outcomes: list[Any] = []
    for lib in (gs, torch):
        x = lib.zeros(3, requires_grad=recorded).clone()
        index = lib.tensor(place) if isinstance(place, list) else place
        try:
            x[index] = lib.tensor(data).to(getattr(lib, dtype))
            outcomes.append(x.detach())
        except Exception as error:
            outcomes.append(error)
    _assert_same(*outcomes, name)
    if isinstance(outcomes[1], Exception):
        assert "source and destination dtypes match" in str(outcomes[0])
