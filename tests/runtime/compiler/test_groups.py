"""The groups and the memory that `gs.compiler.explain` shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import gradspec as gs
from gradspec.compiler.c import toolchain
from gradspec.compiler.explained import c_program, numpy_program
from gradspec.compiler.explained.groups import Group
from gradspec.compiler.explained.memory import MemoryPlan, Storage
from gradspec.compiler.program import Program, Value

from .c.recorded import recorded


def shown(function: Callable[..., Any], *args: Any, backend: str = "c") -> Any:
    return gs.compiler.explain(gs.compile(function, backend=backend), *args)


def functions(group: Group) -> list[str]:
    return [work.step.function for work in group.works]


def kinds(memory: MemoryPlan) -> Counter[str]:
    return Counter(each.kind for each in memory.storages)


def reasons(group: Group) -> list[tuple[int, int, str]]:
    return [(each.groups[0], each.groups[-1], each.why) for each in group.apart]


# ---- groups that are known


def test_a_chain_is_one_nest_whose_values_are_never_in_memory() -> None:
    found = shown(lambda x: (x.sin() * 2 + 1).exp(), gs.ones(6, 5))
    (group,) = found.groups
    assert (group.kind, group.points, group.rows) == ("nest", (6, 5), 2)
    assert functions(group) == ["np.sin", "np.multiply", "np.add", "np.exp"]
    assert not group.apart
    assert kinds(found.memory) == {"input": 1, "constant": 2, "register": 3, "output": 1}
    assert (found.memory.temporary_bytes, found.memory.output_bytes) == (0, 120)


def test_a_softmax_is_one_nest_with_a_loop_over_a_row_for_each_phase() -> None:
    found = shown(lambda x: x.softmax(1), gs.ones(6, 5))
    (group,) = found.groups
    assert (group.points, group.rows) == ((6, 5), 1)
    assert [(work.when, work.step.function) for work in group.works] == [
        ("loop 1", "np.maximum.reduce"),
        ("loop 2", "np.subtract"),
        ("loop 2", "np.exp"),
        ("loop 2", "np.add.reduce"),
        ("loop 3", "np.divide"),
    ]
    rows = [each for each in found.memory.storages if each.kind == "row"]
    assert [each.nbytes for each in rows] == [20]  # exponentials, of a row of five


def test_a_product_by_blas_lies_between_two_nests() -> None:
    found = shown(lambda x: ((x + 1) @ x).sin(), gs.ones(64, 64))
    assert [group.kind for group in found.groups] == ["nest", "library", "nest"]
    assert reasons(found.groups[1]) == [(1, 1, "CALL")]
    assert reasons(found.groups[2]) == [(1, 1, "READS"), (2, 2, "CALL")]
    made = found.groups[1].makes[0].name
    text = f"not joined to 1: reads {made}, which 2 makes; 2: a call, which nothing joins"
    assert text in str(found)


WHY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "POINTS": (lambda x, y: (x.sin(), y.sin()), (gs.ones(8), gs.ones(5))),
    "ROWS": (lambda x: (x.sum(1), x.sum()), (gs.ones(4, 6),)),
    "WHOLE": (lambda x: x - x.sum(0), (gs.ones(4, 6),)),
    "ELSEWHERE": (lambda x: x.exp() + x.exp().t(), (gs.ones(4, 4),)),
    "ORDER": (lambda x: (x.sin().sum(), x.flip(0), x.mul_(2))[:2], (gs.ones(4, 6),)),
}


@pytest.mark.parametrize("why", WHY)
def test_why_a_second_nest_was_begun(why: str) -> None:
    function, args = WHY[why]
    found = shown(function, *args)
    assert [group.kind for group in found.groups] == ["nest", "nest"]
    assert reasons(found.groups[1]) == [(1, 1, why)]


def test_a_region_is_written_after_the_zeros_below_it() -> None:
    first, second = shown(lambda x: gs.nn.functional.pad(x, (1, 1)), gs.ones(4, 6)).groups
    assert first.makes == second.makes
    assert (first.points, second.points) == ((4, 8), (4, 6))
    assert reasons(second) == [(1, 1, "OVERWRITES")]


def test_reasons_in_a_row_are_told_together() -> None:
    def function(x: Any, y: Any) -> Any:
        return (x @ x).sin(), (x @ x.t()).cos(), y + 1

    found = shown(function, gs.ones(64, 64), gs.ones(3))
    assert [group.kind for group in found.groups] == ["library", "nest", "library", "nest", "nest"]
    assert "not joined to 1–4: a call, which nothing joins, or other points" in str(found)


def test_an_operation_too_many_begins_a_nest() -> None:
    def long(x: Any) -> Any:
        for _ in range(301):
            x = (x + 0.5).sin()
        return x

    first, second = shown(long, gs.ones(4)).groups
    assert (len(first.works), len(second.works)) == (600, 2)
    assert reasons(second) == [(1, 1, "LARGE")]


def test_what_has_no_c_is_a_call_of_python() -> None:
    found = shown(lambda x: (x.sin().sort()[0] + 1, x.to(gs.complex64).abs()), gs.ones(6))
    titles = {group.title for group in found.groups if group.kind == "Python"}
    assert any("there is no C for kernels.sort" in title for title in titles)
    assert any("complex64[6]" in title for title in titles)
    arrays = [each for each in found.memory.storages if each.kind == "array"]
    assert sorted(each.value.dtype.name for each in arrays) == ["complex64", "float32", "int64"]
    assert found.memory.temporary_bytes == 6 * (8 + 4 + 8) + 64  # and sines, in the arena


def test_nothing_is_computed() -> None:
    found = shown(lambda x: x, gs.ones(2))
    assert found.groups == ()
    assert "Nothing is computed." in str(found)


def test_a_loop_has_the_groups_of_a_round() -> None:
    def looped(x: Any) -> Any:
        return gs.scan(lambda s, row: ((s * row).sin(), None), x[0], x)[0]

    found = shown(looped, gs.ones(8, 3))
    (group,) = [each for each in found.groups if each.kind == "rounds"]
    assert group.title == "8 rounds"
    assert [functions(each) for each in group.body] == [["np.multiply", "np.sin"]]
    assert kinds(group.memory)["output"] == 1
    assert "in a round of group 1:\n  0 bytes of temporary memory, 12 bytes of results" in str(
        found
    )
    by_numpy = shown(looped, gs.ones(8, 3), backend="numpy")
    (group,) = [each for each in by_numpy.groups if each.body]
    assert [functions(each) for each in group.body] == [["np.multiply"], ["np.sin"]]
    assert "8 rounds of a function, which makes 2 calls" in str(by_numpy)


def test_numpy_calls_step_by_step_and_says_so() -> None:
    found = shown(lambda x: (x.sin() * 2).exp(), gs.ones(6), backend="numpy")
    assert [group.kind for group in found.groups] == ["NumPy"] * 3
    assert "3 calls of NumPy, one for each step" in str(found)
    first, second, last = [each for each in found.memory.storages if each.first]
    assert [each.shares for each in (first, second, last)] == [(), (first.value,), (second.value,)]
    assert (found.memory.temporary_bytes, found.memory.unshared_bytes) == (0, 48)


def test_without_a_compiler_numpy_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def broken(text: str) -> Any:
        raise toolchain.NoCompilerError("It is broken.")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(toolchain, "program", broken)
    with pytest.warns(UserWarning, match="It is broken"):
        found = shown(lambda x: x.sin() * 3, gs.ones(7), backend="auto")
    assert [group.kind for group in found.groups] == ["NumPy"] * 2
    assert "def program(" in found.forward.source


def test_the_text_begins_with_what_is_asked_most() -> None:
    x = gs.ones(4, 4, requires_grad=True)
    text = str(shown(lambda x: (x @ x.sin()).sum(), x))
    titles = (
        "forward: ",
        "backward: ",
        "forward, groups\n---",
        "forward, memory\n---",
        "backward, groups\n---",
        "backward, memory\n---",
        "saved for the backward pass, ",
        "forward: ",
        "backward: ",
        "guards, which",
        "forward, source\n---",
        "backward, source\n---",
    )
    at = -1
    for title in titles:
        at = text.find(f"\n{title}" if at >= 0 else title, at + 1)
        assert at >= 0, title


# ---- memory


def test_bytes_of_what_is_read_no_more_are_used_again() -> None:
    def products(x: Any) -> Any:
        first = x @ x
        second = first @ x
        third = second @ x
        return third @ x

    memory = shown(products, gs.ones(64, 64)).memory
    first, second, third = [each for each in memory.storages if each.kind == "arena"]
    assert [(each.first, each.last) for each in (first, second, third)] == [(1, 2), (2, 3), (3, 4)]
    assert first.offset == third.offset != second.offset
    assert [each.shares for each in (first, second, third)] == [(), (), (first.value,)]
    nbytes = 64 * 64 * 4
    assert (memory.temporary_bytes, memory.unshared_bytes) == (2 * nbytes, 3 * nbytes)
    assert memory.output_bytes == nbytes


def test_the_arena_is_drawn(tmp_path: Path) -> None:
    report = shown(lambda x: (((x @ x) @ x) @ x) @ x, gs.ones(64, 64)).forward
    report.save_memory(tmp_path / "arena.svg")
    drawing = ElementTree.parse(tmp_path / "arena.svg").getroot()
    rects = [each for each in drawing if each.tag.endswith("}rect") and len(each)]
    names = [f"v{nr}: float32[64,64], 16,384 bytes, groups {nr - 1}–{nr}" for nr in (2, 3, 4)]
    assert [each[0].text for each in rects] == names
    first, second, third = [
        [float(each.get(key, "")) for key in ("x", "y", "width", "height")] for each in rects
    ]
    assert second[0] - first[0] == first[2] / 2  # one group later, of the two that it lives in
    assert third[0] == first[0] + first[2]  # where the first ends
    assert [first[1], first[1] + first[3]] == [third[1], second[1]]
    with pytest.raises(ValueError, match="no value of this program lies in the arena"):
        shown(lambda x: x + 1, gs.ones(3)).forward.save_memory(tmp_path / "none.svg")


def test_a_product_that_a_copy_alone_reads_is_nowhere() -> None:
    left, right = gs.ones(8, 16, 16), gs.ones(8, 16, 16)
    found = shown(lambda a, b: (a @ b).transpose(0, 1).contiguous(), left, right)
    (product,) = [step for step in found.forward.program.steps if step.function == "np.matmul"]
    assert found.memory.by_value[product.outputs[0]].kind == "nowhere"
    assert found.groups[0].makes == found.forward.program.outputs


UNARY: list[Callable[[Any], Any]] = [
    np.sin,
    lambda a: np.multiply(a, 0.5),
    lambda a: np.add(np.add.reduce(a, axis=1, keepdims=True), a),
    lambda a: np.subtract(a, np.add.reduce(a, axis=0)),
    lambda a: np.add(a, a.T),
    lambda a: np.add(np.maximum.reduce(a, axis=None), a),
]
BINARY: list[Callable[[Any, Any], Any]] = [
    np.add,
    np.multiply,
    np.matmul,
    lambda a, b: np.matmul(a.T, b),
]
PROGRAMS = st.lists(
    st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 9), st.integers(0, 9)),
    min_size=2,
    max_size=14,
)


def program_of(instructions: list[tuple[int, int, int]]) -> Program:
    """Record a program on two matrices, which returns what nothing else reads, and some more."""

    def run(*matrices: Any) -> tuple[Any, ...]:
        values, read = list(matrices), set()
        for which, *places in instructions:
            first, second = (place % len(values) for place in places)
            read.add(first)
            if which < len(UNARY):
                values.append(UNARY[which](values[first]))
            else:
                read.add(second)
                values.append(BINARY[which - len(UNARY)](values[first], values[second]))
        return tuple(
            each for nr, each in enumerate(values) if nr > 1 and (nr not in read or nr % 3 == 2)
        )

    return recorded(run, *np.ones((2, 40, 40)))


def root(value: Value) -> Value:
    return value.base or value


def lives(program: Program, number_of: dict[int, int], end: int) -> dict[Value, tuple[int, int]]:
    """Find the first and the last group of each value that steps make, by what these read."""
    found: dict[Value, tuple[int, int]] = {}
    for nr, step in enumerate(program.steps):
        if nr not in number_of:
            continue
        for value in (*map(root, step.inputs), *step.outputs):
            if value in found:
                first, last = found[value]
                found[value] = first, max(last, number_of[nr])
            elif value in step.outputs and value.base is None:
                found[value] = number_of[nr], number_of[nr]
    for value in map(root, program.outputs):
        found[value] = found[value][0], end
    return found


def overlap(a: Storage, b: Storage) -> bool:
    assert a.offset is not None
    assert b.offset is not None
    return a.offset < b.offset + b.nbytes and b.offset < a.offset + a.nbytes


@settings(max_examples=60, deadline=None, derandomize=True)
@given(instructions=PROGRAMS)
def test_the_plan_of_c_agrees_with_the_program(instructions: list[tuple[int, int, int]]) -> None:
    program = program_of(instructions)
    _, groups, memory = c_program.seen(program)
    assert [group.number for group in groups] == [*range(1, len(groups) + 1)]
    homes = {
        step: {g.number for g in groups for w in g.works if w.step is step}
        for step in program.steps
    }
    number_of = {}
    for nr, step in enumerate(program.steps):
        is_view = all(value.base is not None for value in step.outputs)
        assert len(homes[step]) == (0 if is_view else 1), step
        if not is_view:
            (number_of[nr],) = homes[step]
    living = lives(program, number_of, len(groups) + 1)
    for value, (first, last) in living.items():
        storage = memory.by_value[value]
        assert (storage.first, storage.last) == (first, last)
        assert storage.nbytes >= value.nbytes or storage.kind in ("row", "register")
        assert first == last or storage.kind not in ("row", "register")
    assert memory.output_bytes == sum(v.nbytes for v in {*map(root, program.outputs)})
    arena = [each for each in memory.storages if each.kind == "arena"]
    assert all(each.offset + each.nbytes <= memory.temporary_bytes for each in arena)
    assert memory.unshared_bytes == sum(each.nbytes for each in arena)
    for each in arena:
        for other in arena:
            if each is not other and overlap(each, other):
                (one, end), (two, after) = living[each.value], living[other.value]
                assert end < two or after < one
        before = [o for o in arena if overlap(each, o) and living[o.value][1] < each.first]
        last_owners = set()
        for at in range(each.offset, each.offset + each.nbytes, 64):
            owners = [o.value for o in before if o.offset <= at < o.offset + o.nbytes]
            last_owners |= {max(owners, key=lambda owner: living[owner])} if owners else set()
        assert set(each.shares) == last_owners
    for group in groups:  # each earlier one is told why it was not joined, once
        told = [number for each in group.apart for number in each.groups]
        assert told == [*range(1, group.number)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(instructions=PROGRAMS)
def test_the_plan_of_numpy_agrees_with_the_program(
    instructions: list[tuple[int, int, int]],
) -> None:
    program = program_of(instructions)
    _, groups, memory = numpy_program.seen(program)
    assert [work.step for group in groups for work in group.works] == list(program.steps)
    number_of = {nr: nr + 1 for nr in range(len(program.steps))}
    living = lives(program, number_of, len(program.steps) + 1)
    results = {*map(root, program.outputs)}
    taken: list[Value] = []
    for value, (first, last) in living.items():
        storage = memory.by_value[value]
        assert (storage.first, storage.last) == (first, last)
        for other in storage.shares:
            assert living[other][1] <= first
            assert other not in results
            assert (other.shape, other.strides) == (value.shape, value.strides)
        taken += storage.shares
    assert len(taken) == len(set(taken))
    allocated = sum(v.nbytes for v in living if not memory.by_value[v].shares)
    assert memory.temporary_bytes + memory.output_bytes == allocated
    assert memory.output_bytes == sum(value.nbytes for value in results)
