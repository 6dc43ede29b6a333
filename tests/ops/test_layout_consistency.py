"""No answer depends on how arguments, cotangents and tangents lie in memory.

Every op of the table, on its examples, by the paths of large arrays, which are taken here from a
few elements on. The reference is the same op on contiguous arrays: what its values are, others
check. By the paths of small arrays each proof compares the same (`make prove` repeats them all).
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from gradspec.dispatch.registry import import_all
from gradspec_codegen.prove.identities.run import differentiable_leaves
from gradspec_codegen.prove.inputs.draw import build, examples_of
from gradspec_codegen.prove.inputs.layouts import (
    _PASSES,
    Layout,
    _answers,
    check_layouts,
    contiguous,
)
from gradspec_codegen.prove.zero.number_fields import numeric_values
from gradspec_codegen.spec.model import OpSpec
from tests.thresholds import set_all_thresholds

from .cases import TABLE

# An op is registered when its family is imported: one that is not would answer nothing.
import_all()


@pytest.fixture
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the sizes that count as large."""
    set_all_thresholds(monkeypatch)


@pytest.mark.usefixtures("_few_are_many")
@pytest.mark.parametrize("op", TABLE.ops, ids=lambda op: op.name)
def test_no_layout_changes_an_answer(op: OpSpec) -> None:
    rng = random.Random(op.name)
    compared = 0
    for example in examples_of(op):
        inputs = build(op, example)
        compared += check_layouts(op, inputs, inputs.draw(rng))
    assert compared


@pytest.mark.parametrize("op", TABLE.ops, ids=lambda op: op.name)
def test_every_pass_answers(op: OpSpec) -> None:
    """Inputs that raise on contiguous arrays are not compared."""
    rng = random.Random(op.name)
    answered = [False] * len(_PASSES)
    for example in examples_of(op):
        inputs = build(op, example)
        values = numeric_values(inputs, inputs.draw(rng))
        leaves = differentiable_leaves(op, inputs)
        with np.errstate(all="ignore"):
            answers = _answers(op, values, leaves, Layout("", contiguous, contiguous))
        for number, answer in enumerate(answers):
            answered[number] |= answer is not None
    assert all(answered)
