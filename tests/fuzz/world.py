"""Two libraries, the variables of one program in each, and what must be the same about them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import gradspec as gs

from .draw import Known
from .events import PRELUDE
from .functions import FUNCTIONS

SAME_NODE = {
    "ReshapeAliasBackward0": "ViewBackward0",
    "UnsafeViewBackward0": "ViewBackward0",
    "ViewAsRealBackward0": "AsStridedBackward0",
}
"""PyTorch's names of the node of `reshape`, which depend on strides and copies; and of the parts of
complex numbers after a write, which are any other region of their base here."""


class Difference(AssertionError):
    """The two libraries did not do the same."""


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
        exec(PRELUDE + FUNCTIONS, self.names)

    def run(self, line: str) -> str | None:
        """Run one line; the name of the exception it raises."""
        try:
            exec(line, self.names)
        except Exception as error:
            return type(error).__name__.lstrip("_")
        return None

    def results(self) -> dict[str, Any]:
        """Return what the lines of the program have assigned."""
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
        self.of_tangents: set[str] = set()
        """Gradients of tangents, which depend on less than PyTorch's do."""

    def do(self, line: str) -> bool:
        """Run a line in both; whether the program may go on. Difference where they differ."""
        self.text.append(line)
        mine, other = self.ours.run(line), self.theirs.run(line)
        if mine != other:
            raise Difference("\n".join([*self.text, f"raised {mine}, PyTorch {other}"]))
        if other is not None:
            # No library promises where an op that writes fails half-way.
            return line.startswith("g")
        # Doubles may have been computed from floats.
        name = line.partition(" = ")[0]
        if name.isidentifier() and any(re.search(rf"\b{x}\b", line) for x in self.unnamed):
            self.unnamed.add(name)  # some ops answer their argument
        copied = re.search(r"(\w+)\.contiguous\(\)", line)
        if (
            copied
            and len({w.names[copied[1]].is_contiguous() for w in (self.ours, self.theirs)}) > 1
        ):
            self.unnamed.add(name)  # results of decompositions have another order there
        rough = any(re.search("float32|int64|complex64", each) for each in self.text)
        if re.search(r"\bgrads\(\[?t", line):
            self.of_tangents.add(name)
        results, expected = self.ours.results(), self.theirs.results()
        for name in expected:
            with_name = name[0] in "xr" and name not in self.unnamed
            pair = _facts(results[name]), _facts(expected[name])
            if name[0] == "t":
                # PyTorch records products with the zeros that stand for absent tangents.
                pair = tuple(map(_without_history, pair))
            if name in self.of_tangents:
                pair = pair[0], _none_for_zeros(*pair)
            found = _difference(*pair, with_name, rough)
            if found:
                raise Difference("\n".join([*self.text, f"{name}: {found}"]))
        if self.ours.names["log"] != self.theirs.names["log"]:
            raise Difference("\n".join([*self.text, "hooks were called otherwise"]))
        return True


def _facts(value: Any) -> Any:
    """Return the facts about a result that must be the same."""
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


def _without_history(facts: Any) -> Any:
    if isinstance(facts, list):
        return [_without_history(each) for each in facts]
    if isinstance(facts, dict):
        return facts | {"requires_grad": None, "is_leaf": None, "grad_fn": ""}
    return facts


def _none_for_zeros(mine: Any, other: Any) -> Any:
    """PyTorch's gradients, with None for zeros that are None here."""
    if isinstance(other, list):
        each = mine if isinstance(mine, list) else [None] * len(other)
        made = [_none_for_zeros(*pair) for pair in zip(each, other, strict=True)]
        return None if mine is None and not any(made) else made
    return None if mine is None and isinstance(other, dict) and not other["values"].any() else other


def _difference(mine: Any, other: Any, with_name: bool, rough: bool) -> str:
    """Describe the difference."""
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
