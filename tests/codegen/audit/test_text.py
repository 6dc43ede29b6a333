"""Questions in the words of a library, and its tables."""

from __future__ import annotations

import numpy as np
import pytest

from gradspec_codegen.audit.libraries import LIBRARIES, library
from gradspec_codegen.audit.published import published
from gradspec_codegen.audit.questions import GENERIC, Question, Sweep
from gradspec_codegen.audit.session import MOST_LINES
from gradspec_codegen.audit.text import NotSpelled, question_text, sweep_text
from tests.ops.cases import TABLE

A = np.array([[1.5, 0.0], [0.0, 2.0]])
V = np.array([[1.0, -0.5], [2.0, 0.75]])


def question(op: str, arguments: dict[str, object], leaf: str) -> Question:
    weights = ((0, "result", np.array(1.0)),)
    return Question(op, arguments, {(leaf, 0): V}, weights, GENERIC, "", 3.0, (1.0, 2.0), 50)


def test_a_question_to_pytorch() -> None:
    text = question_text(
        question("linalg_det", {"A": A}, "A"), TABLE.by_name("linalg_det"), library("torch")
    )
    assert text == (
        "torch.linalg.det((torch.tensor([[1.5, 0.0], [0.0, 2.0]]) "
        "+ t * torch.tensor([[1.0, -0.5], [2.0, 0.75]])))"
    )


def test_a_question_to_jax() -> None:
    text = question_text(
        question("cumprod", {"self": A, "dim": 0}, "self"), TABLE.by_name("cumprod"), library("jax")
    )
    assert text == (
        "jnp.cumprod((jnp.array([[1.5, 0.0], [0.0, 2.0]]) "
        "+ t * jnp.array([[1.0, -0.5], [2.0, 0.75]])), axis=0)"
    )


def test_an_elementwise_op_of_one_argument_is_a_function_of_it() -> None:
    nothing = np.zeros(1)
    sweep = Sweep(
        "sinc", {}, {"self": nothing}, {"self": 1}, (GENERIC,), nothing, (nothing, nothing),
        (nothing, nothing), (nothing, nothing), (nothing > 0, nothing > 0),
    )  # fmt: skip
    assert sweep_text(sweep, TABLE.by_name("sinc"), library("torch"), None) == "torch.sinc(t)"


def test_a_function_that_a_library_lacks() -> None:
    with pytest.raises(NotSpelled, match="MyGrad has no function"):
        question_text(
            question("linalg_det", {"A": A}, "A"), TABLE.by_name("linalg_det"), library("mygrad")
        )


@pytest.mark.parametrize("name", LIBRARIES)
def test_tables_name_ops_that_exist(name: str) -> None:
    known = {op.name for op in TABLE.ops} | {op.signature.name for op in TABLE.ops}
    assert set(library(name).ops) - known == set()


@pytest.mark.parametrize("name", LIBRARIES)
def test_programs_have_room(name: str) -> None:
    table = library(name)
    for lines in table.modes.values():
        assert len(table.prelude) + 1 + len(lines) <= MOST_LINES


def test_published_programs_are_short() -> None:
    for report in published():
        assert len(report.program.splitlines()) <= MOST_LINES, report.issue
        assert report.library in LIBRARIES
