"""Random programs of many ops, run on this library and on PyTorch side by side.

A program is text, so that it can be read, cut down and run again. Every other one is a single op
and its derivatives: first and second gradients, tangents, gradients of tangents. The others mix ops
with what can be done to tensors: writing to them, hooks, modes, custom functions, backward passes.
Run at length with `python -m tests.engine.wide_programs COUNT [FIRST_SEED]`.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from typing import Any

import numpy as np

import gradspec as gs

from .programs import Difference
from .wide_draw import Call, Known, creation
from .wide_events import PRELUDE, event
from .wide_ops import NOT_WRITTEN_TO, OTHER_DERIVATIVES_OF_TANGENTS, OTHER_NAMES

SAME_NODE = {"ReshapeAliasBackward0": "ViewBackward0", "UnsafeViewBackward0": "ViewBackward0"}
"""What PyTorch calls the node of `reshape`, depending on strides and copies."""


class World:
    """One library with the variables of a program."""

    def __init__(self, library: Any) -> None:
        self.names: dict[str, Any] = {
            "T": library,
            "F": library.nn.functional,
            "AD": library.autograd.forward_ad,
            "graph": library.autograd.graph,
            "log": [],
            "handles": [],
        }
        exec(PRELUDE, self.names)

    def run(self, line: str) -> str | None:
        """Run one line; the name of the exception it raises."""
        try:
            exec(line, self.names)
        except Exception as error:
            return type(error).__name__.lstrip("_")
        return None

    def results(self) -> dict[str, Any]:
        """What the lines of the program have assigned."""
        return {k: v for k, v in self.names.items() if re.fullmatch(r"[a-z]\d+", k)}

    def known(self) -> Known:
        """The tensors that further lines may use."""
        return {
            name: (tuple(value.shape), str(value.dtype).removeprefix("torch."))
            for name, value in self.results().items()
            if name[0] == "x"
            and hasattr(value, "numel")
            and 0 < value.numel() < 100
            # What is refused to booleans and integers is refused in words of either library.
            and (value.is_floating_point() or value.is_complex())
        }


class Run:
    """A program while it is written and run."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.ours, self.theirs = World(gs), World(torch)
        self.text = [f"program {seed}:"]
        self.unnamed: set[str] = set()

    def do(self, line: str) -> bool:
        """Run a line in both; whether the program may go on. Difference where they differ."""
        self.text.append(line)
        mine, other = self.ours.run(line), self.theirs.run(line)
        if mine != other:
            raise Difference("\n".join([*self.text, f"raised {mine}, PyTorch {other}"]))
        if other is not None:
            # Where an op that writes fails half-way is nobody's promise.
            return line.startswith("g")
        # Doubles may have been computed from floats.
        rough = any("float32" in each or "int64" in each for each in self.text)
        results, expected = self.ours.results(), self.theirs.results()
        for name in expected:
            with_name = name[0] in "xr" and name not in self.unnamed
            pair = _facts(results[name]), _facts(expected[name])
            found = _difference(*pair, with_name, rough)
            if found:
                raise Difference("\n".join([*self.text, f"{name}: {found}"]))
        if self.ours.names["log"] != self.theirs.names["log"]:
            raise Difference("\n".join([*self.text, "hooks were called otherwise"]))
        return True


def run_program(torch: Any, seed: int, length: int = 12) -> None:
    """Run one program; Difference with its text at the first line that differs."""
    rng = random.Random(seed)
    run = Run(torch, seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if seed % 2:
            _one_op(run, rng)
        else:
            _many_steps(run, rng, length)


def _one_op(run: Run, rng: random.Random) -> None:
    call = Call(rng, {}, 0)
    if any(part in call.text for part in OTHER_NAMES):
        run.unnamed.add("r1")
    if not all(run.do(line) for line in [*call.lines, f"r1 = {call.text}"]):
        return
    leaves = [line.split(" ")[0] for line in call.lines if "requires_grad" in line]
    some = ", ".join(rng.sample(leaves, rng.randint(1, len(leaves)))) if leaves else ""
    if not leaves:
        return
    if rng.random() < 0.3:
        keep, create = rng.random() < 0.5, rng.random() < 0.3
        run.do(f"g1 = total(r1).backward(retain_graph={keep}, create_graph={create})")
        run.do("g2 = total(r1).backward()")
        return
    run.do(f"g1 = grads(r1, [{', '.join(leaves)}], create_graph=True)")
    # Normalisation tells zeros from nothing in another way.
    zeros = "norm(" in call.text
    run.do(f"g2 = grads(g1, [{some}], allow_unused={not zeros}, materialize_grads={zeros})")
    tangents = re.sub(r"\bx\d+\b", lambda m: f"dual({m[0]})" if m[0] in leaves else m[0], call.text)
    if any(part in call.text for part in OTHER_DERIVATIVES_OF_TANGENTS):
        run.do(f"t1, t2 = detached(tangents(lambda: {tangents}))")
    else:
        run.do(f"t1, t2 = tangents(lambda: {tangents})")
        run.do(f"g3 = grads(t2, [{some}])")


def _many_steps(run: Run, rng: random.Random, length: int) -> None:
    number = rng.randint(2, 4)
    for i in range(1, number + 1):
        shape = rng.choice([(2, 3), (3,), (2, 2), (), (3, 3), (2, 1), (1, 3)])
        run.do(f"x{i} = {creation(rng, shape, 'float64')}")
    for _ in range(length):
        known = run.theirs.known()
        number += 10
        if rng.random() < 0.4:
            call = Call(rng, known, number)
            if any(part in call.text for part in NOT_WRITTEN_TO):
                continue
            name = f"x{call.number + 1}"
            if any(part in call.text for part in OTHER_NAMES):
                run.unnamed.add(name)
            lines = [*call.lines, f"{name} = {call.text}"]
        else:
            lines = [event(rng, sorted(known), number)]
        if not all(run.do(line) for line in lines):
            return


def _facts(value: Any) -> Any:
    """What must be the same about a result."""
    if isinstance(value, list | tuple):
        return [_facts(item) for item in value]
    if not hasattr(type(value), "grad_fn") or not hasattr(type(value), "tolist"):
        return value if isinstance(value, int | float | str | None) else type(value).__name__
    try:
        node = value.grad_fn
    except RuntimeError:
        return "a view of what was modified"
    name = "" if node is None else node.name().removeprefix("torch::autograd::")
    kept = value.is_leaf or value.retains_grad
    return {
        "shape": tuple(value.shape),
        "dtype": str(value.dtype).removeprefix("torch."),
        "requires_grad": value.requires_grad,
        "is_leaf": value.is_leaf,
        "grad_fn": SAME_NODE.get(name, name),
        "grad": _facts(value.grad) if kept else None,
        "values": value.detach().numpy(force=True),
    }


def _difference(mine: Any, other: Any, with_name: bool, rough: bool) -> str:
    """What differs, in words."""
    if isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
        found = (_difference(a, b, with_name, rough) for a, b in zip(mine, other, strict=True))
        return next(filter(None, found), "")
    if not (isinstance(mine, dict) and isinstance(other, dict)):
        # `t1` and its like hold named results here and there.
        return "" if mine == other else f"{mine}, in PyTorch {other}"
    for key in ("shape", "dtype", "requires_grad", "is_leaf"):
        if mine[key] != other[key]:
            return f"{key} {mine[key]}, in PyTorch {other[key]}"
    names = mine["grad_fn"], other["grad_fn"]
    if names[0] != names[1] and (with_name or not all(names)):
        return f"grad_fn {names[0]}, in PyTorch {names[1]}"
    if not _close(mine["values"], other["values"], rough):
        return f"values\n{mine['values']}\nin PyTorch\n{other['values']}"
    return "grad: " * bool(found := _difference(mine["grad"], other["grad"], False, rough)) + found


def _close(mine: Any, other: Any, rough: bool) -> bool:
    """Equal but for rounding errors, which grow with what they are the difference of."""
    finite = other[np.isfinite(other)] if other.dtype.kind in "fc" else other
    size = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    tolerance = (2e-4 if rough else 1e-7) * size
    # What overflows is compared no further: the digits of its derivatives are all rounding.
    return size > 1e8 or np.allclose(mine, other, rtol=0, atol=tolerance, equal_nan=True)


def main() -> int:
    """Run many programs and print the first few that differ."""
    import torch

    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    found = 0
    for seed in range(first, first + count):
        try:
            run_program(torch, seed)
        except Difference as difference:
            found += 1
            if found <= 40:
                print(difference, "\n")
    print(f"{found} of {count} programs differ")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
