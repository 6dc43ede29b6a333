"""Random programs, compiled on some numbers and compared with eager on others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import gradspec as gs

from .comparing import assert_same

Instruction = tuple[int, int, int]
"""Function, and the two of the values so far that it takes."""

UNARY: list[Callable[[Any], Any]] = [
    lambda a: a.sin(),
    lambda a: a.tanh(),
    lambda a: a.exp().clamp(max=10.0),
    lambda a: -a,
    lambda a: a * 0.5 + 1,
    lambda a: a.abs().sqrt(),
    lambda a: a.relu(),
    lambda a: a.sum(0, keepdim=True).expand(3, 4),
    lambda a: a.mean(1, keepdim=True) * gs.ones(3, 4, dtype=a.dtype),
    lambda a: a.softmax(1),
    lambda a: a.flip(0),
    lambda a: a.t().reshape(3, 4),
    lambda a: a.cumsum(1),
    lambda a: a[:, [3, 1, 0, 2]],
    lambda a: gs.cat([a[1:], a[:1]]),
    lambda a: a.t().contiguous().t(),
    lambda a: a.detach(),
    lambda a: a.amax(1, keepdim=True) - a,
]
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (b * b + 1),
    lambda a, b: gs.maximum(a, b),
    lambda a, b: gs.where(a > b, a, b * 2),
    lambda a, b: (a @ b.t()) @ b / 10,
]


def _add_to_row(a: Any, b: Any) -> Any:
    a = a.clone()
    a[1] += b[0]
    return a


def _multiply_columns(a: Any, b: Any) -> Any:
    a = a + 0
    view = a.t()
    view[2:].mul_(b.t()[:2])
    return a


def _read_before_a_write(a: Any, b: Any) -> Any:
    a = a * 1
    row = a[0]
    before = row + b
    a.sub_(b)
    return before + row


BINARY += [_add_to_row, _multiply_columns, _read_before_a_write]


def interpreted(program: list[Instruction]) -> Callable[..., Any]:
    """The function that a list of instructions stands for: all its last values, and their sum."""

    def run(x: Any, y: Any) -> Any:
        values = [x, y]
        for which, first, second in program:
            a, b = values[first % len(values)], values[second % len(values)]
            if which < len(UNARY):
                values.append(UNARY[which](a))
            else:
                values.append(BINARY[which - len(UNARY)](a, b))
        return values[-1].sum() + (values[-2] * 0.5).sum(), values[-1] * 1

    return run


def drawn(seed: int, dtype: Any) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [gs.from_numpy(rng.normal(size=(3, 4)).astype(dtype)).requires_grad_() for _ in range(2)]


def answers(function: Callable[..., Any], inputs: list[Any]) -> list[Any]:
    loss, values = function(*inputs)
    found = [loss, values]
    if loss.requires_grad:
        found += gs.autograd.grad(loss, inputs, allow_unused=True, retain_graph=True)
        weights = gs.arange(12.0, dtype=values.dtype).reshape(3, 4)
        if values.requires_grad:
            found += gs.autograd.grad([loss, values], inputs, [None, weights], allow_unused=True)
    return found


PROGRAMS = st.lists(
    st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 9), st.integers(0, 9)),
    min_size=1,
    max_size=10,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_numpy_programs_are_eager_to_the_last_bit(dtype: Any, program: list[Instruction]) -> None:
    function = interpreted(program)
    compiled = gs.compile(function, backend="numpy")
    answers(compiled, drawn(0, dtype))
    inputs = drawn(1, dtype)
    assert_same(answers(compiled, inputs), answers(function, inputs), 1e-5 if _adds(program) else 0)


def _adds(program: list[Instruction]) -> bool:
    """Return whether products of matrices take part, which depend on the layout in memory."""
    return any(which == len(UNARY) + 6 for which, _, _ in program)


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_c_programs_are_eager_nearly(program: list[Instruction]) -> None:
    function = interpreted(program)
    compiled = gs.compile(function, backend="c")
    answers(compiled, drawn(0, np.float64))
    inputs = drawn(1, np.float64)
    assert_same(answers(compiled, inputs), answers(function, inputs), 1e-11)


def looped(program: list[Instruction], reverse: bool) -> Callable[..., Any]:
    """A scan of six rounds, of which each does what a list of instructions says."""

    def run(x: Any, y: Any) -> Any:
        def body(state: Any, row: Any) -> Any:
            values = [state, row, y]
            for which, first, second in program:
                a, b = values[first % len(values)], values[second % len(values)]
                if which < len(UNARY):
                    values.append(UNARY[which](a))
                else:
                    values.append(BINARY[which - len(UNARY)](a, b))
            return (values[-1] + state).tanh(), {"last": values[-1] * 1, "before": values[-2]}

        rows = x * gs.arange(1.0, 7.0, dtype=x.dtype)[:, None, None] / 6
        last, each = gs.scan(body, x, rows, reverse=reverse)
        results = (each["last"] * rows).sum(0) + each["before"].sum(0)
        return last.sum() + results.sum(), last + results

    return run


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS, reverse=st.booleans())
def test_loops_on_numpy_are_eager_rounds(program: list[Instruction], reverse: bool) -> None:
    function = looped(program, reverse)
    compiled = gs.compile(function, backend="numpy")
    answers(compiled, drawn(0, np.float64))
    inputs = drawn(1, np.float64)
    assert_same(answers(compiled, inputs), answers(function, inputs), 1e-10)


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS, reverse=st.booleans())
def test_loops_in_c_are_eager_rounds(program: list[Instruction], reverse: bool) -> None:
    function = looped(program, reverse)
    compiled = gs.compile(function, backend="c")
    answers(compiled, drawn(0, np.float64))
    inputs = drawn(1, np.float64)
    assert_same(answers(compiled, inputs), answers(function, inputs), 1e-9)
