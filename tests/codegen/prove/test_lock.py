"""The lock says what was proved, and its digests change with everything a proof depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradspec_codegen.prove.report.lock import Entry, digests, read, text
from gradspec_codegen.prove.report.verdict import OpVerdict, Status
from gradspec_codegen.prove.sources import _definitions, examples_of, kernel_sources, prover_digest
from gradspec_codegen.spec.load import load_table
from tests.codegen.proving import own_table

ENTRIES = [
    Entry("mul.Tensor", "proved", 142, 3, 418, 1, "sha256:1f2e"),
    Entry(
        "softsign",
        "certified",
        8,
        1,
        1,
        2,
        "sha256:90ab",
        (("self", "grad / (1 + abs(self)) ** 2"),),
    ),
    Entry("_private", "tested", 0, 0, 0, 0, "sha256:00"),
]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "proofs.lock"
    path.write_text(text(ENTRIES), encoding="utf-8")
    assert list(read(path).values()) == ENTRIES


def test_text_of_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "proofs.lock"
    path.write_text(text(ENTRIES), encoding="utf-8")
    lines = path.read_text().splitlines()
    assert lines[0].startswith("#")
    assert [" ".join(line.split()) for line in lines if "sha256" in line] == [
        "mul.Tensor proved 142 identities, 3 chambers, 418 calls, 1 condition sha256:1f2e",
        "softsign certified 8 identities, 1 chamber, 1 call, 2 conditions sha256:90ab",
        "_private tested 0 identities, 0 chambers, 0 calls, 0 conditions sha256:00",
    ]
    assert "    self = grad / (1 + abs(self)) ** 2" in lines


def test_a_missing_or_damaged_lock_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "proofs.lock"
    assert read(path) == {}
    path.write_text(
        "mul proved\n    self = grad\n<<<<<<< ours\nsin  proved  1 identities, 1 chamber  x"
    )
    assert read(path) == {}


def test_an_entry_comes_from_a_verdict() -> None:
    verdict = OpVerdict("sin", Status.PROVED, 24, 2, 0.1, calls=5, conditions=1)
    assert Entry.of(verdict, "sha256:ab") == Entry("sin", "proved", 24, 2, 5, 1, "sha256:ab")


SOURCES = {"sin": "np.sin", "cos": "np.cos", "tan": "sin / cos", "exp": "np.exp"}
CALLS = {"sin": {"cos"}, "cos": {"sin"}, "tan": {"sin"}, "exp": set[str]()}


def digest_of(
    *,
    sources: dict[str, str] | None = None,
    kernels: dict[str, str] | None = None,
    examples: dict[str, str] | None = None,
    prover: str = "",
) -> dict[str, str]:
    return digests(SOURCES | (sources or {}), CALLS, kernels or {}, examples or {}, prover)


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        ({}, set()),
        ({"sources": {"tan": "cos / sin"}}, {"tan"}),
        ({"sources": {"cos": "1"}}, {"sin", "cos", "tan"}),
        ({"kernels": {"exp": "def exp"}}, {"exp"}),
        ({"kernels": {"cos": "def cos"}}, {"sin", "cos", "tan"}),
        ({"examples": {"cos": "[2, 3]"}}, {"cos"}),
        ({"prover": "new"}, {"sin", "cos", "tan", "exp"}),
    ],
)
def test_what_a_change_makes_stale(
    change: dict[str, dict[str, str] | str], stale: set[str]
) -> None:
    before, after = digest_of(), digest_of(**change)
    assert {name for name in SOURCES if before[name] != after[name]} == stale


def test_kernels_come_with_what_they_call() -> None:
    source = kernel_sources(["max_with_indices"])
    assert "def max_with_indices" in source
    assert "def normalize_dim" in source
    assert "def softmax" not in source


def test_a_parameter_is_no_kernel_of_its_name() -> None:
    text = "def norm(weight, eps=eps):\n    return sqrt(weight)\n"
    assert [mentioned for _, _, mentioned in _definitions(text)] == [{"sqrt", "eps"}]


def test_the_prover_has_a_digest() -> None:
    assert len(prover_digest()) == 64


def test_what_an_entry_requires_is_part_of_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    texts = []
    for requires in ("self.ndim == 1", "self.ndim < 2"):
        path.write_text(
            "- name: f(Tensor self) -> Tensor\n  composite: self * 2\n"
            f"  requires: {requires}\n  examples: [{{self: [2]}}]\n",
            encoding="utf-8",
        )
        (op,) = load_table(path, base=own_table()).ops
        texts.append(examples_of(op))
    assert texts[0] != texts[1]
