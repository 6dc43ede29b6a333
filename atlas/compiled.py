"""The C that `gs.compile` makes of an op: of the call in its example, forward and backward."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .calls import Program

_DECLARED = "void (*gs_share)("
"""Declarations that end every program."""


def c_of(program: Program | None) -> str:
    """Return the C of an example without what all programs declare; why there is none as a comment.

    Nothing is built, so no compiler is needed.
    """
    from gradspec.compiler import CaptureError

    if program is None:
        return "/* Formulas alone call this op: it is in the C of the ops that they belong to. */\n"
    try:
        return "\n".join(_written(program))
    except CaptureError as error:
        reason = re.sub(r"^gs\.compile: (?:<string>:\d+: )?", "", str(error))
        return f"/* Not compiled: {reason} */\n"


def _written(program: Program) -> Iterator[str]:
    import gradspec as gs

    space: dict[str, Any] = {}
    arguments = ", ".join(program.tensors)
    exec(program.setup, space)  # our own text, as in `calls.py`
    exec(f"def called({arguments}):\n    return {program.call}\n", space)
    compiled = gs.compile(space["called"], backend="numpy")  # captures; the C is written below
    given = (space[name] for name in program.tensors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explained = gs.compiler.explain(compiled, *given)
    yield from _of("Forward", explained.forward.program)
    if explained.backward is not None:
        yield from _of("Backward", explained.backward.program)


def _of(title: str, program: Any) -> Iterator[str]:
    """The functions of one program in the order in which they run, and the calls between them."""
    from gradspec.compiler.c.operations import PythonCall
    from gradspec.compiler.c.source import written
    from gradspec.compiler.program import rooted

    steps = tuple(replace(s, place=replace(s.place, file="", line=0)) for s in program.steps)
    source = written(rooted(replace(program, steps=steps)))
    functions = source.text.partition(_DECLARED)[2].partition("\n")[2].strip()
    stages = [
        f"a call of {s.step.function}" if isinstance(s, PythonCall) else f"{s}()"
        for s in source.stages
    ]
    yield f"/* {title}: {', then '.join(stages) or 'nothing to compute'}. */"
    yield f"{functions}\n" if functions else ""
