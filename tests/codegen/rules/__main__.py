"""`python -m tests.codegen.rules [NAME …]`: the prover's verdict on the corpus of rules.

A name is a folder (`wrong`), a file (`wrong/ties`) or an entry. `--verify` asks no prover: it
compares derivatives with differences, and so shows that the wrong entries are wrong.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from gradspec_codegen.diagnostics import SpecError

from .corpus import RuleEntry, read_corpus
from .judge import Judgement, judge
from .verify import verify


def main(arguments: list[str]) -> int:
    """Print a table of verdicts, then totals by file."""
    if "--help" in arguments:
        print(__doc__)
        return 0
    names = tuple(a for a in arguments if not a.startswith("--"))
    entries = read_corpus(names)
    if not entries:
        print(f"no entry is called {' or '.join(names)}")
        return 2
    if "--verify" in arguments:
        return _verify(entries)
    judged: list[Judgement] = []
    for _, group in groupby(entries, lambda entry: entry.file):
        for found in judge(list(group)):
            judged.append(found)
            print(_row(found), flush=True)
    print(_totals(judged))
    return 0 if all(found.is_right for found in judged) else 1


def _row(found: Judgement) -> str:
    mark = " " if found.is_right else "!"
    name = f"{found.entry.file}/{found.entry.name}"
    return f"{mark} {found.verdict:9} {found.seconds:5.1f} s  {name}: {found.reason[:160]}"


def _totals(judged: Iterable[Judgement]) -> str:
    counts: dict[str, Counter[str]] = {}
    for found in judged:
        counts.setdefault(found.entry.file, Counter())[found.verdict] += 1
    rows = [f"\n{'file':40} {'refused':>9} {'generated':>9} {'error':>9}"]
    for file, count in counts.items():
        rows.append(f"{file:40} {count['refused']:9} {count['generated']:9} {count['error']:9}")
    return "\n".join(rows)


def _verify(entries: list[RuleEntry]) -> int:
    unsure = 0
    for entry in entries:
        try:
            found = verify(entry)
        except SpecError as error:
            found = "NOT TRIED: " + "; ".join(d.message for d in error.diagnostics)
        except Exception as error:
            found = f"NOT TRIED: {type(error).__name__}: {error}".partition("\n")[0]
        is_unsure = found.startswith("NOT") or bool(found) != entry.is_wrong
        unsure += is_unsure
        print(f"{'!' if is_unsure else ' '} {entry.file}/{entry.name}: {found[:200]}", flush=True)
    print(f"{len(entries)} entries, {unsure} of them not as they are called")
    return 1 if unsure else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
