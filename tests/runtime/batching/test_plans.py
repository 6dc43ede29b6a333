"""Plans of batched calls, which are decided once: what they may depend on, and what they keep."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import ref

import numpy as np
import pytest

import gradspec as gs
from gradspec.batching import call
from gradspec.batching.call import loops

RNG = np.random.default_rng(0)
X = gs.tensor(RNG.standard_normal((4, 2, 3)).astype(np.float32))
ROWS = gs.tensor(RNG.standard_normal((4, 3)).astype(np.float32))
NUMBERS = gs.tensor(RNG.standard_normal(4))
ROW = gs.tensor(RNG.standard_normal(3).astype(np.float32))

CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "both batched": (gs.add, (0, 0), (X, ROWS)),
    "the second batched": (gs.add, (None, 0), (ROW, ROWS)),
    "the first batched": (gs.add, (0, None), (ROWS, ROW)),
    "equal shapes, one shared": (gs.add, (0, None), (ROWS, ROWS)),
    "equal shapes, both batched": (gs.add, (0, 0), (ROWS, ROWS)),
    "0-dim of a wider dtype": (gs.add, (0, 0), (ROWS, NUMBERS)),
    "the wider dtype has dimensions": (gs.add, (0, 0), (ROWS.double(), NUMBERS.float())),
    "only 0-dim": (gs.add, (0, 0), (NUMBERS.float(), NUMBERS)),
    "a number": (lambda x: gs.add(x, 2), (0,), (ROWS.long(),)),
    "an equal number of another kind": (lambda x: gs.add(x, 2.0), (0,), (ROWS.long(),)),
    "an equal flag": (lambda x: gs.add(x.bool(), True), (0,), (ROWS,)),
    "one": (lambda x: gs.add(x.bool(), 1), (0,), (ROWS,)),
    "the last dimension": (lambda x: gs.cumsum(x, -1), (0,), (X,)),
    "the first dimension": (lambda x: gs.cumsum(x, 0), (0,), (X,)),
    "other dimensions": (lambda x: gs.cumsum(x, 0), (0,), (ROWS,)),
    "no dimension": (lambda x: gs.cumsum(x, 0), (0,), (NUMBERS,)),
    "another batch dimension": (lambda x: gs.cumsum(x, 0), (2,), (X,)),
    "another number of examples": (lambda x: gs.cumsum(x, 0), (0,), (X[:1],)),
    "a list, all batched": (lambda x, y: gs.cat([x, y]), (0, 0), (ROWS, ROWS)),
    "a list, one shared": (lambda x, y: gs.cat([x, y]), (0, None), (ROWS, ROW)),
    "a dimension of one": (gs.squeeze, (0,), (X[:, :1],)),
    "a dimension of one, one example": (gs.squeeze, (0,), (X[:1, :1],)),
    "a loop": (gs.median, (0,), (ROWS,)),
}


def one_by_one(function: Callable[..., Any], in_dims: tuple[Any, ...], args: Any) -> Any:
    size = next(t.shape[dim] for t, dim in zip(args, in_dims, strict=True) if dim is not None)
    rows = [
        function(*(t if d is None else t.select(d, nr) for t, d in zip(args, in_dims, strict=True)))
        for nr in range(size)
    ]
    return np.stack([row.numpy() for row in rows])


@pytest.fixture(autouse=True)
def _without_plans() -> None:
    call._plans.clear()


def check(name: str) -> None:
    function, in_dims, args = CALLS[name]
    found = gs.vmap(function, in_dims)(*args).numpy()
    expected = one_by_one(function, in_dims, args)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("order", [sorted(CALLS), sorted(CALLS, reverse=True)])
def test_a_plan_is_not_taken_for_that_of_another_call(order: list[str]) -> None:
    for name in order:
        check(name)
    for name in order:  # now by the plans
        check(name)


def test_a_call_that_is_like_another_makes_no_further_plan() -> None:
    each = gs.vmap(gs.func.grad(lambda x: (x * 2 + 1).tanh().sum()))
    each(ROWS)
    known = dict(call._plans)
    each(ROWS + 1)
    assert call._plans == known


def test_what_values_decide_is_not_kept() -> None:
    pick = gs.vmap(lambda x, place: x[place])
    places = gs.tensor([0, 1, 2, 0])
    expected = [ROWS[nr, place].item() for nr, place in enumerate(places.tolist())]
    with pytest.raises(IndexError):
        pick(ROWS, places + 1)
    assert pick(ROWS, places).tolist() == expected
    with pytest.raises(IndexError):
        pick(ROWS, places + 1)
    loops.clear()
    assert pick(ROWS, places).tolist() == expected
    assert not loops["index.Tensor"]


def test_what_an_example_refuses_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match="must be a matrix"):
            gs.vmap(lambda x: gs.mm(x, x))(ROWS)


def test_loops_are_counted_each_time() -> None:
    loops.clear()
    for _ in range(3):
        gs.vmap(gs.median)(ROWS)
    assert loops["median"] == 3


def test_plans_keep_no_tensors() -> None:
    def seen(x: Any) -> Any:
        parts = x.cumsum(-1) + ROW, gs.median(x)
        kept.extend(map(ref, (x, *parts)))
        return parts

    kept: list[Any] = []
    gs.vmap(seen)(ROWS)
    gc.collect()
    assert [reference() for reference in kept] == [None, None, None]


def test_the_plans_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_PLANS", 5)
    for size in range(1, 20):
        assert gs.vmap(lambda x: x.exp())(gs.zeros(size, 2)).tolist() == [[1.0, 1.0]] * size
        assert 0 < len(call._plans) <= 5


def test_threads_share_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call, "MOST_PLANS", 5)

    def run(_: int) -> None:
        for name in CALLS:
            check(name)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(run, range(12))) == [None] * 12
