"""The documents' blocks are run, and their outputs compared."""

from __future__ import annotations

import re
from difflib import unified_diff
from functools import cache
from pathlib import Path

import pytest

from gradspec_codegen.pipeline import builtin_table
from gradspec_codegen.spec.keys import key_table

from .documents import DOCUMENTS, replayed
from .source_tree import ROOT


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_tells_the_truth(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    now = replayed(text, tmp_path)
    changes = unified_diff(normalised(text).splitlines(), normalised(now).splitlines(), n=0)
    difference = "\n".join(changes)
    assert not difference, f"`python -m tests.meta.documents` accepts this:\n{difference}"


def normalised(text: str) -> str:
    """Without what differs from run to run, and how much there was to prove."""
    return re.sub(r"\d+ identities", "... identities", re.sub(r"\d+\.\d+ s\b", "... s", text))


def test_the_examples_of_the_readme_do_what_they_are_there_for() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert "error[GS070]: VJP of self[0] is wrong in `softsign(self=[3])`" in text
    assert "\n3 mistakes; nothing was written.\n" in text
    # 1/9, 4/9, 1 and 1/4: the derivative of softsign at -2, -1/2, 0 and 1.
    assert "\ntensor([0.1111, 0.4444, 1.0000, 0.2500])\n" in text


@pytest.mark.parametrize("name", [*DOCUMENTS, "CHANGELOG.md"])
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    local = [link for link in links if not link.startswith(("http:", "https:"))]
    missing = [link for link in local if not (document.parent / link).exists()]
    assert [link for link in missing if not is_made_by_the_site(document.parent / link)] == []


def is_made_by_the_site(page: Path) -> bool:
    """Return whether a link leads to a page that there will be: of the atlas, or the benchmarks."""
    if not page.resolve().is_relative_to(ROOT / "docs"):
        return False
    name = page.resolve().relative_to(ROOT / "docs").as_posix()
    return name in {"benchmarks.md", "atlas/index.md"} or name in pages_of_ops()


@cache
def pages_of_ops() -> set[str]:
    return {f"atlas/{op.signature.name}.md" for op in builtin_table().ops}


def test_make_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    named = {
        target
        for name in DOCUMENTS
        for target in re.findall(r"(?:`|\$ |^)make (\w+)", (ROOT / name).read_text("utf-8"))
    }
    assert {"demo", "test"} <= named <= targets


def test_continuous_integration_calls_the_documented_test_command() -> None:
    calls = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert calls.index("make check") < calls.index("make test")


def test_the_manual_says_what_every_key_says() -> None:
    manual = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    assert f"<!-- keys -->\n{key_table()}\n" in manual


def test_every_diagnostic_code_is_in_the_manual() -> None:
    from gradspec_codegen.diagnostics import CODES
    from gradspec_codegen.prove.report.verdict import PROOF_CODES

    manual = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(GS\d+)` \| (.+?) \|$", manual, re.MULTILINE))
    assert rows == CODES | PROOF_CODES


def test_every_status_in_the_lock_is_as_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    told = re.search(r"every op of the table is `proved` but for (.*?), which are `tested`", readme)
    assert told is not None
    lock = (ROOT / "specs" / "proofs.lock").read_text(encoding="utf-8")
    lines = [line for line in lock.splitlines() if "sha256:" in line and line[0] != " "]
    statuses = {line.split()[0]: line.split()[1] for line in lines}
    others = {op: status for op, status in statuses.items() if status != "proved"}
    assert others == dict.fromkeys(re.findall(r"`(\w+)`", told[1]), "tested")
