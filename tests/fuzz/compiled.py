"""Random programs, compiled: what a compiled function does is what the function does.

The programs are those of `programs`, without what is no part of a function: hooks, and passes
through everything. What such a program creates first are the arguments; its lines are the function,
which returns all that they assign. Compared are results, gradients through them, and what was
written to the arguments and to their `grad`.
Run at length with `python -m tests.fuzz.compiled COUNT [FIRST_SEED [BACKEND]]`.
"""

from __future__ import annotations

import random
import re
import sys
import textwrap
import warnings
from collections import Counter
from typing import Any

import numpy as np

import gradspec as gs
from gradspec.func.trees import leaves_of

from .programs import KINDS
from .world import Difference, World

_OUTSIDE = re.compile(
    r"handles|log\.append|inference_mode|everything\(|retain_grad|\.backward\(|set_data|wait_for"
    r"|graph\.|\.grad = None|requires_grad_\(\w+\)|detach_\(|\.data\b"
)
"""Lines that belong outside of a function, or change what tensors are and not their values."""
_CREATION = re.compile(r"^(x\d+) = T\.(?:tensor|zeros)\(.*$")
_NAME = re.compile(r"^(?:    )?((?:[a-z]\d+(?:, )?)+) = ", re.MULTILINE)


class Written:
    """A program while it is written: `Run`, with one library in place of two."""

    def __init__(self) -> None:
        self.ours = self.theirs = World(gs)
        self.unnamed: set[str] = set()
        self.of_tangents: set[str] = set()
        self.created: list[str] = []
        self.lines: list[str] = []

    def do(self, line: str) -> bool:
        """Run a line, and take it into the program if it does not fail."""
        if _OUTSIDE.search(line):
            return True
        if self.theirs.run(line) is not None:
            return line.startswith("g")
        is_creation = _CREATION.match(line) is not None
        (self.created if is_creation else self.lines).append(line)
        return True

    def arguments(self) -> list[str]:
        """The names of what is created."""
        return [line.partition(" = ")[0] for line in self.created]

    def text(self) -> str:
        """The program as a function."""
        names = dict.fromkeys(
            name
            for line in self.lines
            for found in _NAME.findall(line)
            for name in found.split(", ")
        )
        body = "\n".join([*self.lines, f"return [{', '.join(names)}]"])
        return f"def program({', '.join(self.arguments())}):\n{textwrap.indent(body, '    ')}\n"


def written(seed: int, length: int = 8) -> Written:
    """Write the program of a seed."""
    program = Written()
    KINDS[seed % len(KINDS)](program, random.Random(seed), length)  # type: ignore[arg-type]
    return program


class Outcome:
    """Effects of a call of a program."""

    def __init__(self, program: Written, seed: int, **options: Any) -> None:
        world = World(gs)
        for line in program.created:
            exec(line, world.names)
        exec(program.text(), world.names)
        function = world.names["program"]
        if options:
            function = gs.compile(function, **options)
        inputs = [world.names[name] for name in program.arguments()]
        gs.manual_seed(seed)
        results = leaves_of(function(*inputs))
        tensors = [each for each in results if isinstance(each, gs.Tensor)]
        roots = [each for each in tensors if each.requires_grad]
        leaves = [each for each in inputs if each.requires_grad and each.is_leaf]
        grads: list[Any] = []
        if roots and leaves:
            total = world.names["total"](roots)
            grads = list(gs.autograd.grad(total, leaves, allow_unused=True))
        known = [None if each is None else each.grad for each in leaves]
        self.facts = [_facts(each) for each in (*results, *inputs, *grads, *known)]


def _facts(value: Any) -> Any:
    if not isinstance(value, gs.Tensor):
        return value
    return value.dtype, tuple(value.shape), value.requires_grad, value.detach().numpy().copy()


def run_compiled(seed: int, backend: str) -> str:
    """Compare a program with itself, compiled; Difference, or why it cannot be compiled."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = written(seed)
        if not program.lines or not program.created:
            return "empty"
        try:
            expected = Outcome(program, seed).facts
        except RuntimeError as error:
            return f"eager fails: {error}"[:60]
        what = f"seed {seed}, {backend}:\n" + "\n".join(program.created) + "\n" + program.text()
        try:
            found = Outcome(program, seed, backend=backend).facts
        except gs.compiler.CaptureError as error:
            return re.sub(r"^.*?: |<string>:\d+: ", "", str(error))[:60]
        except Exception as error:
            raise Difference(f"{what}\nraised {type(error).__name__}: {error}") from error
        rough = any(part in what for part in ("float32", "complex64", ".float()"))
        for nr, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
            if not _same(ours, theirs, rough):
                raise Difference(f"{what}\n{nr}: {ours}\neager: {theirs}")
    return ""


def _same(ours: Any, theirs: Any, rough: bool) -> bool:
    if not isinstance(theirs, tuple) or not isinstance(ours, tuple):
        return bool(ours == theirs) or (ours != ours and theirs != theirs)
    if ours[:3] != theirs[:3]:
        return False
    finite = theirs[3][np.isfinite(theirs[3])]
    size = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    is_single = ours[0] in (np.float32, np.complex64)
    allowed = (1e-4 if rough or is_single else 1e-8) * size
    return size > 1e8 or np.allclose(ours[3], theirs[3], rtol=0, atol=allowed, equal_nan=True)


def main() -> int:
    """Run many programs, print the first few that differ, and why others cannot be compiled."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    backend = sys.argv[3] if len(sys.argv) > 3 else "numpy"
    refused: Counter[str] = Counter()
    found = 0
    for seed in range(first, first + count):
        if (seed - first) % 500 == 499:
            print(f"{seed - first + 1} of {count}, {found} differ", file=sys.stderr)
        try:
            refused[run_compiled(seed, backend)] += 1
        except Difference as difference:
            found += 1
            if found <= 40:
                print(difference, "\n", flush=True)
    print(f"{found} of {count} programs differ, {refused.pop('', 0)} are the same")
    for why, times in refused.most_common():
        print(f"{times:5} {why}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
