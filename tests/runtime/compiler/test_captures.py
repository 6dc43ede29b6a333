"""Events after which a function is captured again, and functions that cannot be captured."""

from __future__ import annotations

import itertools
import random
from collections import deque
from random import gauss
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn
from gradspec.compiler import CaptureError


def compiled(function: Any, **options: Any) -> Any:
    return gs.compile(function, backend="numpy", **options)


def test_shapes_dtypes_layouts_and_numbers_are_guarded() -> None:
    calls = []

    def function(x: gs.Tensor, factor: float) -> Any:
        calls.append(0)
        return x * factor

    run = gs.compile(function, backend="numpy")
    calls_before = calls  # a list whose length changes would be a lost side effect
    with pytest.raises(CaptureError, match=r"len\(calls\)"):
        run(gs.ones(2), 2.0)
    assert calls_before


def test_each_signature_has_a_program() -> None:
    run = compiled(lambda x, factor: x * factor)
    x = gs.ones(2, 3)
    variants = [
        (x, 2.0), (x, 3.0), (x, 2), (x.t(), 2.0), (x.double(), 2.0),
        (gs.ones(2, 3, requires_grad=True), 2.0), (x, -0.0), (x, 0.0),
    ]  # fmt: skip
    for _ in range(2):
        for tensor, factor in variants:
            np.testing.assert_array_equal(
                np.signbit(run(tensor, factor).numpy(force=True)),
                np.signbit((tensor * factor).numpy(force=True)),
            )
            assert run(tensor, factor).sum().item() == (tensor * factor).sum().item()
    assert run.count_programs() == len(variants)


def test_what_is_outside_is_guarded() -> None:
    state = {"factor": 2.0}
    weights = [gs.ones(2)]
    run = compiled(lambda x: x * state["factor"] + weights[0])
    assert run(gs.ones(2)).tolist() == [3.0, 3.0]
    state["factor"] = 3.0
    assert run(gs.ones(2)).tolist() == [4.0, 4.0]
    weights[0].fill_(5.0)
    assert run(gs.ones(2)).tolist() == [8.0, 8.0]
    assert run.count_programs() == 2
    weights[0] = gs.zeros(2)
    assert run(gs.ones(2)).tolist() == [3.0, 3.0]
    assert run.count_programs() == 3


@pytest.mark.parametrize(
    "function",
    [
        lambda x, array: x * float(array[0]),
        lambda x, array: x * gs.tensor(array)[0],
        lambda x, array: x * (gs.from_numpy(array) * 1)[0],
    ],
)
@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_arrays_outside_are_compared(function: Any, backend: str) -> None:
    array, items = np.array([2.0, 1.0]), deque([1.0])
    x = gs.ones(2, dtype=gs.float64)
    run = gs.compile(lambda x: function(x, array) * items[0], backend=backend)
    assert [run(x).tolist(), run(x).tolist()] == [[2.0, 2.0]] * 2
    array[0] = 5.0
    assert run(x).tolist() == [5.0, 5.0]
    items[0] = 2.0
    assert run(x).tolist() == [10.0, 10.0]
    array[0] = 2.0
    items[0] = 1.0
    assert run(x).tolist() == [2.0, 2.0]
    assert run.count_programs() == 3


def test_many_captures_are_warned_of() -> None:
    run = compiled(lambda x, factor: x * factor)
    x = gs.ones(2)
    for factor in range(8):
        run(x, factor)
    with pytest.warns(UserWarning, match="captured for the 9th time, because 7 to 8 has changed"):
        run(x, 8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x.sum() > 0 else -x,
        lambda x: x if (x > 0).all() and x.shape else -x,
    ],
)
def test_a_condition_on_data_is_refused(function: Any) -> None:
    with pytest.raises(CaptureError, match=r"test_captures\.py:\d+: a condition.*gs\.where"):
        compiled(function)(gs.ones(3))


def test_a_value_is_refused() -> None:
    with pytest.raises(CaptureError, match=r"test_captures\.py:\d+: the value of a tensor"):
        compiled(lambda x: x * x.sum().item())(gs.ones(3))
    with pytest.raises(CaptureError, match="turned into an array"):
        compiled(lambda x: x * gs.from_numpy(np.asarray(x)))(gs.ones(3))


def test_a_shape_that_depends_on_data_is_refused() -> None:
    for function in (lambda x: x[x > 0], lambda x: x.nonzero(), lambda x: gs.unique(x)):
        with pytest.raises(CaptureError, match=r"shape of a result depends on data.*gs\.where"):
            compiled(function)(gs.ones(3))


def test_a_lost_side_effect_is_refused() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: gs.Tensor) -> Any:
            self.calls += 1
            return x * 2

    with pytest.raises(CaptureError, match=r"changes Counter\.calls"):
        compiled(Counter())(gs.ones(3))


def _append(items: Any, x: Any) -> Any:
    items["list"].append(x * 2)
    return x


def _replace(items: Any, x: Any) -> Any:
    items["x"] = x * 2
    return x


def _remove(items: Any, x: Any) -> Any:
    del items["list"][0]
    return x


@pytest.mark.parametrize("change", [_append, _replace, _remove])
def test_a_change_of_an_argument_that_is_a_container_is_refused(change: Any) -> None:
    items = {"x": gs.ones(2), "list": [1, gs.ones(3)]}
    with pytest.raises(CaptureError, match="changes a list, dict or dataclass that is an argument"):
        compiled(change)(items, gs.ones(2))
    with pytest.warns(UserWarning, match="runs as it is"):
        compiled(change, fullgraph=False)(items, gs.ones(2))
    assert items["x"].tolist() == [2.0, 2.0] or len(items["list"]) != 2  # type: ignore[arg-type, union-attr]


DRAWN = np.random.default_rng(0)
OLD = np.random.RandomState(0)
OWN = random.Random(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * random.random(),
        lambda x: x * gauss(0, 1),
        lambda x: x * np.random.rand(),
        lambda x: x * float(DRAWN.normal()),
        lambda x: x * OLD.rand(),
        lambda x: x * OWN.random(),
    ],
)
def test_numbers_of_other_generators_are_refused(function: Any) -> None:
    with pytest.raises(CaptureError, match=r"test_captures\.py:\d+: .* draws random .*gs\.rand"):
        compiled(function)(gs.ones(3))


def test_a_function_may_name_a_generator_and_not_draw() -> None:
    run = compiled(lambda x, is_noisy: x + random.random() if is_noisy else x * 2)
    assert run(gs.ones(2), False).tolist() == [2.0, 2.0]


def test_printing_is_refused_in_the_function_alone(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: gs.Tensor) -> gs.Tensor:
        print(x.shape)
        return x * 2

    with pytest.raises(CaptureError, match=r"test_captures\.py:\d+: print is called"):
        compiled(function)(gs.ones(3))
    run = compiled(function, fullgraph=False)
    with pytest.warns(UserWarning, match="runs as it is"):
        run(gs.ones(3))
    run(gs.ones(3))
    assert capsys.readouterr().out.count("Size([3])") == 2
    print("again")
    assert capsys.readouterr().out == "again\n"


class Holder:
    def __init__(self, value: Any) -> None:
        self.values = [value]


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x: Holder(x * 2), "Holder"),
        (lambda x: (row for row in x), "generator"),
        (lambda x: [iter([x])], "list_iterator"),
        (lambda x: lambda: x * 2, "function"),
        (lambda x: gs.distributions.Normal(x, 1.0), "Normal"),
    ],
)
def test_objects_that_hold_tensors_are_refused(function: Any, kind: str) -> None:
    with pytest.raises(CaptureError, match=f"an object of type {kind} is returned"):
        compiled(function)(gs.ones(3))


def test_objects_that_were_there_before_are_returned() -> None:
    model, holder = nn.Linear(3, 3), Holder(1)
    found = compiled(lambda x, given: (model, given, x.dtype, x.shape))(gs.ones(3), holder)
    assert found == (model, holder, gs.float32, (3,))


def test_without_fullgraph_it_runs_as_it_is() -> None:
    run = compiled(lambda x: x if x.sum() > 0 else -x, fullgraph=False)
    with pytest.warns(UserWarning, match="runs as it is"):
        assert run(gs.ones(3)).tolist() == [1.0] * 3
    assert run(-gs.ones(3)).tolist() == [1.0] * 3


def test_errors_of_the_function_come_through_and_nothing_stays_recorded() -> None:
    weight = gs.ones(3)
    with pytest.raises(RuntimeError, match="must match"):
        compiled(lambda x: x + weight + gs.ones(7))(gs.ones(3))
    assert type(weight.array) is np.ndarray
    assert (weight + 1).tolist() == [2.0] * 3


def test_arguments_of_compile_are_checked() -> None:
    with pytest.raises(ValueError, match="backend must be one of"):
        gs.compile(lambda x: x, backend="cuda")
    with pytest.raises(TypeError, match="expected a function"):
        gs.compile(3)


def test_check_finds_a_number_that_is_not_the_same_at_every_call() -> None:
    counted = itertools.count()
    with pytest.raises(RuntimeError, match="result 0 of the program differs"):
        compiled(lambda x: x * next(counted), check=True)(gs.ones(3))
    assert compiled(lambda x: x * 2, check=True)(gs.ones(3)).tolist() == [2.0] * 3
