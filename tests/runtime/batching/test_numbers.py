"""Numbers and sizes that are batched tensors: they differ between the examples and are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec.func import jvp

ROWS = gs.arange(12.0).reshape(3, 4)
COUNTS = gs.tensor([1, 2, 3])
SAME = gs.tensor([2, 2, 2])

TAKES_A_NUMBER: dict[str, Callable[[Any, Any], Any]] = {
    "expand": lambda x, n: x.sum().expand(n),
    "expand of several": lambda x, n: x.expand(n, 4),
    "repeat": lambda x, n: x.repeat(n),
    "view": lambda x, n: x.view(n, -1),
    "unfold": lambda x, n: x.unfold(0, n, 1),
    "narrow": lambda x, n: x.narrow(0, n, 1),
    "narrow length": lambda x, n: x.narrow(0, 0, n),
    "roll": lambda x, n: x.roll(n),
    "tril": lambda x, n: x.reshape(2, 2).tril(n),
    "select": lambda x, n: x.select(0, n),
    "topk": lambda x, n: x.topk(n),
    "kthvalue": lambda x, n: x.kthvalue(n),
    "diag_embed": lambda x, n: gs.diag_embed(x, n),
    "norm": lambda x, n: x.norm(n),
    "alpha": lambda x, n: gs.add(x, x, alpha=n),
    "value": lambda x, n: gs.addcmul(x, x, x, value=n),
    "dim": lambda x, n: x.cumsum(n),
    "new_zeros": lambda x, n: x.new_zeros(n),
    "zeros": lambda _, n: gs.zeros(n),
    "arange": lambda _, n: gs.arange(n),
    "slice": lambda x, n: x[n:],
    "pad": lambda x, n: gs.nn.functional.pad(x, (n, 0)),
}


@pytest.mark.parametrize("counts", [COUNTS, SAME], ids=["different", "same"])
@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_a_batched_number_is_refused(name: str, counts: gs.Tensor) -> None:
    function = TAKES_A_NUMBER[name]
    with pytest.raises(RuntimeError, match="values of a batched tensor"):
        gs.vmap(function)(ROWS, counts)


@pytest.mark.parametrize("name", TAKES_A_NUMBER)
def test_a_batched_number_is_refused_at_several_levels(name: str) -> None:
    function = TAKES_A_NUMBER[name]

    def pushed(x: Any, n: Any) -> Any:
        return jvp(lambda x: function(x, n), (x,), (x,))

    with pytest.raises(RuntimeError, match="values of a batched tensor"):
        gs.vmap(pushed)(ROWS, COUNTS)
    with pytest.raises(RuntimeError, match="values of a batched tensor"):
        gs.vmap(gs.vmap(function, (0, None)), (None, 0))(ROWS, COUNTS)


def test_the_error_names_the_argument() -> None:
    with pytest.raises(RuntimeError, match="'shifts' of roll must be a number"):
        gs.vmap(lambda x, n: x.roll(n))(ROWS, COUNTS)


def test_a_number_of_all_examples_is_taken() -> None:
    two = gs.tensor(2)
    assert gs.vmap(lambda x: x.roll(two))(ROWS).tolist() == [
        [2, 3, 0, 1],
        [6, 7, 4, 5],
        [10, 11, 8, 9],
    ]


def test_tensors_that_differ_stay_arguments() -> None:
    picked = gs.vmap(lambda x, n: x[n])(ROWS, COUNTS)
    assert picked.tolist() == [1, 6, 11]
    raised = gs.vmap(lambda x, n: x.clamp(max=n))(ROWS, COUNTS)
    assert raised.tolist() == [[0, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]]
