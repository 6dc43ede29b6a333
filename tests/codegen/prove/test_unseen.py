"""Rules that no table holds: wrong ones of every kind are refuted, right ones are proved."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table, prove_text

RULES = Path(__file__).parent / "unseen"


def names(file: str) -> list[str]:
    """The public ops of a file; private ones are right, and help others to be wrong."""
    table = load_table(RULES / file, base=own_table())
    return [op.name for op in table.ops if not op.is_private]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OpVerdict]:
    text = "".join(
        (RULES / file).read_text(encoding="utf-8") for file in ("wrong.yaml", "right.yaml")
    )
    found = prove_text(text, tmp_path_factory.mktemp("unseen"), "unseen_ops", jobs=2)
    return {name: verdict for name, (_, verdict) in found.items()}


@pytest.mark.parametrize("name", names("wrong.yaml"))
def test_a_wrong_rule_is_refuted(verdicts: dict[str, OpVerdict], name: str) -> None:
    verdict = verdicts[name]
    assert verdict.status is Status.REFUTED, verdict.notes
    assert verdict.counterexample is not None


@pytest.mark.parametrize("name", names("right.yaml"))
def test_a_right_rule_is_proved(verdicts: dict[str, OpVerdict], name: str) -> None:
    assert verdicts[name].status is Status.PROVED, verdicts[name]


def test_there_are_many_of_both() -> None:
    assert min(len(names("wrong.yaml")), len(names("right.yaml"))) >= 50
