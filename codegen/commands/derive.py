"""`gradspec derive EXPR`."""

from __future__ import annotations

from pathlib import Path

import click

from ..diagnostics import SpecError
from ..failures import refutations
from ..pipeline import Known, known_ops
from ..scratch import prove_beside
from ..spec.model import OpSpec
from ..target import Target
from .options import fail, interrupted, json_option, kernels_option, show_json, spec_option
from .place import target_of


def _scalars(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Read options such as `beta=1` as names with defaults."""
    found: dict[str, str] = {}
    for text in given:
        name, equals, default = text.partition("=")
        if not (equals and name.isidentifier()):
            raise click.BadParameter(f"`{text}`: write NAME=DEFAULT, as in beta=1")
        found[name] = default
    return found


@click.command(
    short_help="Print a ready entry for a formula.",
    epilog="Exit status: 0 the entry was printed (and proved); 1 a mistake in EXPR, no derivative, "
    "or a refuted one; 2 usage.",
)
@click.argument("expression", metavar="EXPR")
@click.option("--name", default="my_op", show_default=True, help="The name of the op.")
@click.option(
    "--scalar",
    "scalars",
    multiple=True,
    callback=_scalars,
    metavar="NAME=DEFAULT",
    help="A name in EXPR that is a number, not a tensor. May be given several times.",
)
@click.option("--prove/--no-prove", "proves", default=True, help="Prove the entry as well.")
@spec_option
@kernels_option
@json_option
def derive(
    expression: str,
    name: str,
    scalars: dict[str, str],
    proves: bool,
    spec: Path | None,
    kernels: Path | None,
    as_json: bool,
) -> None:
    """Print a ready entry for the elementwise op that EXPR defines.

    EXPR is a formula over the ops of the table, such as "x * tanh(log1p(exp(x)))". Its names are
    tensors. The VJPs are sympy's derivatives; domain, kinks and broadcasting are filled in, and the
    entry is proved before it is printed.
    """
    from ..authoring.derived import ENTRY, TEXT, derive_entry  # sympy

    texts = {TEXT: expression}
    target = target_of(spec, kernels=kernels, as_json=as_json)
    try:
        known = known_ops(target)
        entry = derive_entry(expression, known.everything, name=name, scalars=scalars)
        texts[ENTRY] = entry.text
        status = _proved(entry.op, known, target) if proves else "not proved"
    except SpecError as error:
        fail(error, as_json=as_json, texts=texts)
    except KeyboardInterrupt:
        interrupted()
    if as_json:
        remarks = list(entry.remarks)
        show_json({"ok": True, "entry": entry.text, "remarks": remarks, "proof": status})
        return
    click.echo(f"# Derived by sympy; {status}.")
    for remark in entry.remarks:
        click.echo(f"# To do: {remark}.")
    click.echo(entry.text, nl=False)


def _proved(op: OpSpec, known: Known, target: Target) -> str:
    """Prove the entry, and say how it went. Raises SpecError if the formula is refuted."""
    (verdict,) = prove_beside(
        [op], known.table, target.staged_as, base=known.base, kernels=known.kernels
    )
    if not verdict.holds:
        from ..authoring.derived import in_entry

        raise in_entry(refutations([(op, verdict)]))
    return f"{verdict.status}: {verdict.identities} identities"
