"""`python -m tests.codegen.targets.counts` writes into docs/targets.md what is emitted."""

from __future__ import annotations

import re
from collections import Counter

from gradspec_codegen.targets.frameworks import FRAMEWORKS, framework
from tests.codegen.targets.emitted import FILLED, refusals_of_table
from tests.meta.source_tree import ROOT

MANUAL = ROOT / "docs" / "targets.md"

_HEAD = "| framework | reason | ops |\n|---|---|---|\n"
_TABLE = re.compile(re.escape(_HEAD) + r"(\|.*\n)+")


def rows(name: str) -> list[str]:
    """The rows of one framework: what is emitted, then the reasons, commonest first."""
    refused = Counter(refusals_of_table(name).values())
    counts = [("emitted", len(FILLED.ops) - refused.total()), *refused.most_common()]
    return [f"| {framework(name).title} | {reason} | {count} |" for reason, count in counts]


def main() -> None:
    """Write the table."""
    table = _HEAD + "".join(f"{row}\n" for name in FRAMEWORKS for row in rows(name))
    text = MANUAL.read_text(encoding="utf-8")
    MANUAL.write_text(_TABLE.sub(lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
