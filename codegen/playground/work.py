"""One question to the playground, answered in a process of its own.

    python -m gradspec_codegen.playground.work < entry.yaml

It reads a spec from standard input and writes JSON. Nothing in a spec executes: formulas are
parsed, and what they may call is listed; includes, which would read other files, are refused.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..authoring.explanation import explanation
from ..diagnostics import Diagnostic, Span, SpecError, render
from ..mutate.advice import advised
from ..pipeline import ProofFailure, generate, plan
from ..target import Target
from .drawing import drawing

_PACKAGE = "playground_ops"
_FILE = "entry.yaml"
_INCLUDE = re.compile(r"^\s*-?\s*[\"']?include[\"']?\s*:", re.MULTILINE)

MOST_OPS = 8
"""Ops of one question: there is a limit on its time."""


def answer(text: str) -> dict[str, Any]:
    """Check a spec: return mistakes, a refutation with its picture, or a proof."""
    with tempfile.TemporaryDirectory(prefix="gradspec-playground-") as folder:
        spec = Path(folder) / _FILE
        spec.write_text(text, encoding="utf-8")
        target = Target(spec, Path(folder) / _PACKAGE, _PACKAGE, command="gradspec codegen")
        try:
            _check(text, target)
            outcome = generate(target, jobs=1, keeps=False)
        except SpecError as error:
            return _mistakes(error, "mistakes", text)
        except ProofFailure as failure:
            found = _mistakes(advised(failure, target.staged_as), "refuted", text)
            everything = failure.planned.everything
            examples = [v.counterexample for _, v in failure.failures if v.counterexample]
            return found | {"drawings": [drawing(each, everything) for each in examples]}
        planned = plan(target)
        if not planned.table.ops:
            nothing = Diagnostic("GS011", Span(str(spec), 1, 1), "there is no entry to prove")
            return _mistakes(SpecError([nothing]), "mistakes", text)
        told = [explanation(op, planned, target).to_json() for op in planned.table.ops]
        return {
            "verdict": "proved",
            "ops": told,
            "seconds": sum(v.seconds for v in outcome.verdicts),
        }


def _check(text: str, target: Target) -> None:
    """Raise SpecError for what the playground does not take."""
    if not text.strip():
        raise SpecError([Diagnostic("GS011", Span(str(target.spec), 1, 1), "there is no entry")])
    included = _INCLUDE.search(text)
    if included:
        line = text.count("\n", 0, included.start()) + 1
        raise SpecError(
            [
                Diagnostic(
                    "GS013", Span(str(target.spec), line, 1), "the playground reads no other file"
                )
            ]
        )
    if len(re.findall(r"^\s*-\s*name\s*:", text, re.MULTILINE)) > MOST_OPS:
        message = f"the playground proves {MOST_OPS} ops at once"
        raise SpecError([Diagnostic("GS011", Span(str(target.spec), 1, 1), message)])


def _mistakes(error: SpecError, verdict: str, text: str) -> dict[str, Any]:
    """The mistakes as the command prints them, and as data."""
    found = [asdict(each) for each in error.diagnostics]
    for each in found:
        each["span"]["path"] = _FILE
    paths = {each.span.path: text for each in error.diagnostics}
    shown = render(error.diagnostics, color=False, texts=paths)
    for path in paths:
        shown = shown.replace(path, _FILE)
    return {"verdict": verdict, "mistakes": found, "text": shown}


def main() -> None:
    """Answer the question on standard input."""
    json.dump(answer(sys.stdin.read()), sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
