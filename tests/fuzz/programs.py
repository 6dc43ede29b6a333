"""Random programs of many ops, run on this library and on PyTorch side by side.

A program is text, so that it can be read, cut down and run again. There are five kinds, `KINDS`:
a single op and its derivatives (first and second gradients, tangents, gradients of tangents), of
real numbers or of complex ones; ops mixed with what can be done to tensors (writing to them, hooks,
modes, custom functions, backward passes); views of views and writes through them; and ops of all
kinds, layers among them, with passes through all of them.
Run at length with `python -m tests.fuzz.programs COUNT [FIRST_SEED]`.
"""

from __future__ import annotations

import random
import re
import sys
import warnings
from typing import Any

import numpy as np

from .draw import Call, creation
from .events import event
from .ops import (
    CHOOSES_AMONG_EQUALS,
    COMPLEX_FAMILIES,
    JOINS,
    MAY_BE_SINGULAR,
    NEVER_FREED,
    NOT_WRITTEN_TO,
    OTHER_DERIVATIVES_OF_TANGENTS,
    OTHER_NAMES,
    OTHER_SUMS,
    OTHER_TANGENTS,
)
from .views import view, write
from .world import Difference, Run


def run_program(torch: Any, seed: int, length: int = 12) -> None:
    """Run one program; Difference with its text at the first line that differs."""
    rng = random.Random(seed)
    run = Run(torch, seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        KINDS[seed % len(KINDS)](run, rng, length)


def _one_op(run: Run, rng: random.Random, _: int) -> None:
    _derivatives(run, rng, Call(rng, {}, 0))


def _one_complex_op(run: Run, rng: random.Random, _: int) -> None:
    _derivatives(run, rng, Call(rng, {}, 0, COMPLEX_FAMILIES))


def _derivatives(run: Run, rng: random.Random, call: Call) -> None:
    if any(part in call.text for part in OTHER_NAMES):
        run.unnamed.add("r1")
    if _may_differ(run, call):
        return
    if not all(run.do(line) for line in [*call.lines, f"r1 = {call.text}"]):
        return
    leaves = [line.split(" ")[0] for line in call.lines if "requires_grad" in line]
    some = ", ".join(rng.sample(leaves, rng.randint(1, len(leaves)))) if leaves else ""
    if not leaves:
        return
    frees = not any(part in call.text for part in NEVER_FREED)
    if rng.random() < 0.3 and frees and call.template not in OTHER_SUMS:
        keep, create = rng.random() < 0.5, rng.random() < 0.3
        run.do(f"g1 = total(r1).backward(retain_graph={keep}, create_graph={create})")
        run.do("g2 = total(r1).backward()")
        return
    run.do(f"g1 = grads(r1, [{', '.join(leaves)}], create_graph=True)")
    if OTHER_TANGENTS in call.template:
        return
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
            if any(part in call.text for part in NOT_WRITTEN_TO) or _may_differ(run, call):
                continue
            name = f"x{call.number + 1}"
            if any(part in call.text for part in OTHER_NAMES):
                run.unnamed.add(name)
            lines = [*call.lines, f"{name} = {call.text}"]
        else:
            lines = [event(rng, sorted(known), number)]
        if not all(run.do(line) for line in lines):
            return


def _quiet_steps(run: Run, rng: random.Random, length: int) -> None:
    """Ops of all kinds, and passes through all of them; nothing is written to."""
    _start(run, rng, "float64")
    for number in range(10, 10 * length, 10):
        call = Call(rng, run.theirs.known(), number)
        if any(part in call.text for part in MAY_BE_SINGULAR) or _may_differ(run, call):
            continue
        name = f"x{call.number + 1}"
        if any(part in call.text for part in OTHER_NAMES):
            run.unnamed.add(name)
        if not all(run.do(line) for line in [*call.lines, f"{name} = {call.text}"]):
            return
        if rng.random() < 0.3:
            names = sorted(run.theirs.known())
            chosen = ", ".join(rng.sample(names, min(3, len(names))))
            run.do(f"g{number} = grads({name}, [{chosen}], create_graph=True)")
    run.do("g9 = total(everything()).backward()")


def _may_differ(run: Run, call: Call) -> bool:
    """Return whether the libraries may answer differently for these values.

    Of equal elements this one chooses the first; of several zeros PyTorch's product has a gradient
    of zeros, whatever is to be multiplied by them; joined inference tensors are views there;
    `addcdiv` refuses integers; and zeros that are differences of products may be rounding errors.
    """
    if "addcdiv" in call.text and any("int64" in line for line in call.lines):
        return True
    names = re.findall(r"\bx\d+\b", call.text)
    given = [run.theirs.names[name] for name in names if name in run.theirs.names]
    if any(part in call.text for part in JOINS) and any(x.is_inference() for x in given):
        return True
    if not given:
        return False
    if "cross" in call.text and given[0] is given[-1]:
        return True
    values = given[0].detach().numpy(force=True)
    if any(part in call.text for part in CHOOSES_AMONG_EQUALS):
        return bool(np.unique(values.round(9)).size < values.size)
    return "prod" in call.text and bool((values == 0).sum() > 1)


def _views_and_writes(run: Run, rng: random.Random, length: int) -> None:
    dtype = rng.choice(["float64"] * 4 + ["complex128", "float32"])
    _start(run, rng, dtype)
    for number in range(10, 10 * length, 10):
        known = run.theirs.known()
        names = sorted(known)
        x = rng.choice(names)
        kind = rng.random()
        if kind < 0.35:
            line = f"x{number} = {view(rng, known, x)}"
        elif kind < 0.7:
            line = write(rng, known, x)
        elif kind < 0.8:
            line = f"x{number} = {x}.clone()"
        else:
            line = event(rng, names, number)
        if not run.do(line):
            return


def _start(run: Run, rng: random.Random, dtype: str) -> None:
    for i in range(1, rng.randint(2, 4) + 1):
        shape = rng.choice([(2, 3), (3,), (2, 2), (), (3, 3), (2, 1), (1, 3), (2, 3, 2)])
        run.do(f"x{i} = {creation(rng, shape, dtype)}")


KINDS = (_one_op, _many_steps, _one_complex_op, _views_and_writes, _quiet_steps)


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
