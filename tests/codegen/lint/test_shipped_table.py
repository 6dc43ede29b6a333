"""The shipped table loses no digits but where an entry says so: a thin sweep of `gradspec lint`."""

from __future__ import annotations

import pytest

from gradspec.dispatch.registry import import_all
from gradspec_codegen.lint.subjects import Subject, reachable, subjects
from gradspec_codegen.lint.sweep import sweep
from tests.codegen.proving import own_table

THIN = 29
MOST_EXCEPTIONS = 11

SUBJECTS = list(subjects(own_table(), own_table()))


@pytest.fixture(scope="module", autouse=True)
def all_ops() -> None:
    """Sweeps look ops up by name: their families must have been imported."""
    import_all()


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda s: s.label)
def test_values_and_derivatives_stay_within_the_bounds(subject: Subject) -> None:
    found = sweep(subject, reachable(subject.op, own_table()), thin=THIN)
    assert found
    assert [(each.what, each.dtype, each.lost) for each in found if each.lost] == []


def test_few_ops_have_exceptions() -> None:
    excused = {op.name for op in own_table().ops if op.accuracy}
    assert 0 < len(excused) <= MOST_EXCEPTIONS


def test_the_sweep_knows_the_usual_ops() -> None:
    swept = {subject.op.name for subject in SUBJECTS}
    assert {"exp2", "silu", "sinc", "hypot", "atan2", "selu", "addcmul", "special_i0e"} <= swept
