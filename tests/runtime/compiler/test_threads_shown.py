"""`explain` tells how many threads run a group, and why not more."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gradspec as gs
from gradspec.compiler.c import threads, toolchain
from gradspec.compiler.explained.groups import Group


@pytest.fixture(autouse=True)
def _four_threads() -> Iterator[None]:
    before = gs.get_num_threads()
    gs.set_num_threads(4)
    yield
    gs.set_num_threads(before)


def explained(function: Callable[..., Any], *args: Any, backend: str = "c") -> Any:
    """Return what `explain` says of a function."""
    return gs.compiler.explain(gs.compile(function, backend=backend), *args)


def only(function: Callable[..., Any], *args: Any) -> Group:
    """Return the group of a program that is one."""
    (group,) = explained(function, *args).groups
    assert isinstance(group, Group)
    return group


def sines(x: Any) -> Any:
    """Return rows with a division for each, which are taken many at a time."""
    for _ in range(60):
        x = x.sin()
    return x * (1 / x.sum(1, True))


CASES: dict[str, tuple[str, int, int, Callable[..., Any], tuple[Any, ...]]] = {
    "small": ("SMALL", 1, 1, lambda x: x + 1, (gs.ones(1000),)),
    "rows": ("THREADS", 4, 2000, lambda x: x.exp() / x.sum(1, True), (gs.ones(2000, 1000),)),
    "three rows": ("PIECES", 3, 3, lambda x: x.exp() / x.sum(1, True), (gs.ones(3, 10**6),)),
    "blocks": ("THREADS", 4, 977, lambda x: x.sin().sum(), (gs.ones(10**6),)),
    "maximum": ("KIND", 1, 1, lambda x: x.sin().amax(), (gs.ones(10**6),)),
    "phases": ("PHASES", 1, 1, lambda x: x.exp() - x.exp().sum(), (gs.ones(10**6),)),
    "loops": ("LOOPS", 1, 1, lambda x: (x.sin().sum(0), x.sum()), (gs.ones(500, 500),)),
    "tiles": ("FEW", 1, 1, sines, (gs.ones(100, 60),)),
    "product": ("SHORT", 1, 1, lambda x: x @ x, (gs.ones(100, 100),)),
    "shared product": ("PIECES", 2, 2, lambda x: x @ x, (gs.ones(200, 200),)),
    "narrow product": ("COLUMNS", 1, 1, lambda x: x @ x.t(), (gs.ones(8, 10**5),)),
    "batch": ("THREADS", 4, 64, lambda x: x @ x, (gs.ones(64, 50, 50),)),
    "lookup": ("STEP", 1, 1, lambda x, i: x[i], (gs.ones(9, 3), gs.tensor([1, 2]))),
    "Python": ("CALL", 1, 1, lambda x: x.sort()[0], (gs.ones(9),)),
}


@pytest.mark.parametrize("name", CASES)
def test_how_many_threads_run_a_group_and_why_not_more(name: str) -> None:
    why, count, pieces, function, args = CASES[name]
    found = only(function, *args).threads
    assert (found.why, found.count, found.pieces) == (why, count, pieces)


def test_a_nest_is_shared_in_the_source_where_it_is_said_to_be() -> None:
    for why, _, pieces, function, args in CASES.values():
        found = explained(function, *args)
        if found.groups[0].kind == "nest":
            assert ("gs_share(part" in found.forward.source) == (pieces > 1), why


def test_fewer_threads_are_told() -> None:
    gs.set_num_threads(1)
    found = only(lambda x: x.sin().sum(), gs.ones(10**6)).threads
    assert (found.why, found.count, found.pieces) == ("THREADS", 1, 977)
    assert "gs.get_num_threads() is 1" in str(found)


def test_a_large_product_leaves_all_products_to_blas() -> None:
    groups = explained(lambda x, y: (x @ x, y @ y), gs.ones(400, 400), gs.ones(50, 50)).groups
    assert [group.threads.why for group in groups] == ["BLAS", "BLAS"]


def test_rounds_follow_each_other_and_their_groups_may_be_shared() -> None:
    def looped(x: Any) -> Any:
        return gs.fori_loop(0, 9, lambda _, y: y.sin() / y.sum(1, True), x)

    (group,) = explained(looped, gs.ones(1000, 1000)).groups
    assert group.threads.why == "ROUNDS"
    assert [inner.threads.count for inner in group.body] == [4]


def test_numpy_runs_each_step_in_the_thread_that_calls() -> None:
    found = explained(lambda x: x.sin() @ x, gs.ones(9, 9), backend="numpy")
    assert {(group.threads.count, group.threads.why) for group in found.groups} == {(1, "CALL")}


def test_a_line_tells_it() -> None:
    text = explained(lambda x: x.sin().sum(), gs.ones(10)).forward.parts
    assert "1 thread: 120 operations, of 2,000,000 from which threads pay" in text


def test_pieces_of_a_product_are_those_of_the_program(tmp_path: Path) -> None:
    source = explained(lambda x: x @ x, gs.ones(200, 200)).forward.source
    function = re.search(r"static inline (gs_int gs_block\(.*?\n\})", source, re.S)
    assert function is not None
    text = f"typedef long gs_int;\n{function[1]}\n"
    (tmp_path / "block.c").write_text(text, encoding="utf-8")
    made = tmp_path / "block.so"
    options = ("-shared", "-fPIC", str(tmp_path / "block.c"), "-o", str(made))
    subprocess.run([*toolchain.compiler(), *options], check=True)
    block = ctypes.CDLL(str(made)).gs_block
    block.argtypes, block.restype = [ctypes.c_long], ctypes.c_long
    for columns in (1, 15, 16, 100, 127, 128, 255, 256, 500, 512, 1000, 2048, 10**5):
        assert threads.block_of(columns) == block(columns)
