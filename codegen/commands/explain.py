"""`gradspec explain OP`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import indent

import click
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from ..authoring.explanation import Explanation, FormulaText, explanation, find_ops, suggestion
from ..diagnostics import SpecError
from ..pipeline import plan
from ..target import Target, builtin_spec
from .options import (
    fail,
    json_option,
    kernels_option,
    out_option,
    show_json,
    shown_path,
    spec_option,
)
from .place import target_of


@click.command(
    short_help="Show everything about an op.",
    epilog="Exit status: 0; 1 no such op, or a mistake in the spec; 2 usage.",
)
@click.argument("op")
@spec_option
@out_option
@kernels_option
@click.option("--code/--no-code", default=True, help="Show the generated code of the op.")
@json_option
def explain(
    op: str,
    spec: Path | None,
    out: str | None,
    kernels: Path | None,
    code: bool,
    as_json: bool,
) -> None:
    """Show everything about OP: formulas, LaTeX, what is saved, its proof and its code.

    OP is a name (`mul`, then all overloads are shown), one overload (`mul.Tensor`), an alias, or
    a node as printed in a graph (`MulBackward0`). With a spec of your own it may be an op of that
    or one of gradspec's.
    """
    target = target_of(spec, out, kernels=kernels, as_json=as_json)
    try:
        planned = plan(target)
        everything = planned.everything
        ops = find_ops(planned.table, op, everything)
        if not ops and target.is_extension:
            target = Target(builtin_spec())
            planned = plan(target)
            ops = find_ops(planned.table, op)
        found = [explanation(each, planned, target) for each in ops]
    except SpecError as error:
        fail(error, as_json=as_json)
    if not found:
        help = suggestion(everything, op)
        click.echo(
            f"There is no op `{op}`." + (f" {help[0].upper()}{help[1:]}" if help else ""), err=True
        )
        sys.exit(1)
    if as_json:
        show_json([each.to_json() for each in found])
        return
    console = Console(highlight=False)
    for number, each in enumerate(found):
        if number:
            console.rule(style="dim")
        _show(each, console, code)


def _show(found: Explanation, console: Console, with_code: bool) -> None:
    console.print(Text(found.signature, style="bold"))
    if found.doc:
        console.print(Text(found.doc))
    console.print()
    _show_formulas(found, console)
    _show_lists(found, console)
    if with_code:
        console.print(Text(found.module, style="bold cyan"))
        code = Syntax(
            found.source.rstrip(), "python", background_color="default", theme="ansi_dark"
        )
        # Without a terminal the code is printed as it is, for pipes.
        console.print(code if console.is_terminal else Text(found.source.rstrip()), soft_wrap=True)


def _show_formulas(found: Explanation, console: Console) -> None:
    _heading(console, found.definition.of.capitalize())
    _formula(console, found.definition, "")
    if found.kernel:
        _heading(console, "Kernel")
        _indented(console, found.kernel.strip(), 2)
    for title, formulas in (("VJP", found.vjps), ("JVP", found.jvps)):
        if formulas:
            _heading(console, title)
        for formula in formulas:
            _formula(console, formula, f"{formula.of}: ")


def _formula(console: Console, formula: FormulaText, label: str) -> None:
    text = formula.text.strip()
    # A block keeps its own indentation, below its label.
    _indented(console, f"{label}\n{text}".lstrip("\n") if "\n" in text else label + text, 2)
    if formula.latex:
        _indented(console, formula.latex, 4, style="dim")


def _show_lists(found: Explanation, console: Console) -> None:
    facts: tuple[tuple[str, Iterable[str]], ...] = (
        ("Saved", found.saves or ["nothing"] if found.node else ()),
        ("Requires", found.requires),
        ("Domain", found.domain),
        ("Kinks", found.kinks),
        ("Unproved", found.unproved),
        ("Accuracy", found.accuracy),
        ("Promoted", [", ".join(found.promotes)] if found.promotes else ()),
        ("Aliases", [", ".join(found.aliases)] if found.aliases else ()),
        ("Examples", found.examples),
        ("Proof", found.verdict),
        ("Batches", found.batching),
        ("Node", [found.node] if found.node else ()),
        ("Entry", [f"{shown_path(Path(found.place.rpartition(':')[0]))}:{_line(found.place)}"]),
    )
    for title, lines in facts:
        shown = list(lines)
        if shown:
            _heading(console, title)
        for line in shown:
            _indented(console, line, 2)
    console.print()


def _line(place: str) -> str:
    return place.rpartition(":")[2]


def _indented(console: Console, text: str, width: int, style: str = "") -> None:
    console.print(Text(indent(text, " " * width), style=style), soft_wrap=True)


def _heading(console: Console, title: str) -> None:
    console.print(Text(title, style="bold cyan"))
