"""The code that is generated for an op, for each framework, highlighted."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.emit.format import format_tree
from gradspec_codegen.emit.views import OriginView
from gradspec_codegen.pipeline import Plan
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.targets.frameworks import FRAMEWORKS, framework
from gradspec_codegen.targets.package import FrameworkPackage

_UNCOLOURED = re.compile(r'<span class="(?:n|w)">([^<]*)</span>')
"""Names and spaces, which look like the text around them; they are a third of a page."""

_ORIGIN = OriginView("gradspec codegen", "the table")


def code_of(ops: Iterable[OpSpec], planned: Plan) -> dict[tuple[str, str], str]:
    """The code of each op for each framework, by both names; why there is none as a comment."""
    found: dict[tuple[str, str], str] = {}
    for op in ops:
        found[op.name, "numpy"] = planned.built.ops[op.name].source
        for name in FRAMEWORKS:
            found[op.name, name] = _emitted(op, planned, name)
    return _formatted(found)


def _emitted(op: OpSpec, planned: Plan, name: str) -> str:
    package = FrameworkPackage(Table((op,)), planned.everything, framework(name), _ORIGIN)
    try:
        files = package.files(planned.recorded)
    except SpecError as error:
        reasons = dict.fromkeys(found.message for found in error.diagnostics)
        return "".join(f"# Not for {framework(name).title}: {reason}.\n" for reason in reasons)
    return files[f"{op.family}.py"]


def _formatted(sources: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """All of them in one run of the formatter."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {key: Path(folder) / f"{n}.py" for n, key in enumerate(sources)}
        for key, path in paths.items():
            path.write_text(sources[key], encoding="utf-8")
        format_tree(Path(folder))
        return {key: path.read_text(encoding="utf-8") for key, path in paths.items()}


@cache
def highlighted(code: str, language: str = "python") -> str:
    """Code as HTML, with the classes of the theme."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    shown = HtmlFormatter(cssclass="highlight", wrapcode=True)
    made = str(highlight(code, get_lexer_by_name(language), shown)).strip()
    return _UNCOLOURED.sub(r"\1", made)
