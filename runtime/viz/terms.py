"""Recorded steps as terms: what is constant is a number, and what is one or zero disappears."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..core.tensor import Tensor
from .recorded import Step

ATOM: Final = 5
_INFIX: Final = {"add": (" + ", 1), "sub": (" - ", 1), "mul": (" * ", 2), "div": (" / ", 2)}
_POWER: Final = 4
_NEGATIVE: Final = 3
_ALIKE: Final = (
    "_itself",
    "clone",
    "contiguous",
    "detach",
    "alias",
    "expand",
    "unreduce",
    "_unreduce",
)
"""Ops whose result has the values of the first argument."""


_SWAPPED: Final = {"rsub": "sub", "_rdiv": "div"}
"""Ops of reflected operators, and what they are with their operands exchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """A value: an input, a number, an array that is no input, or an op of other terms.

    Compared by identity: parts are shared, so that comparing all of them would never end.
    """

    text: str
    """Label: an input's name, an op's name; of a constant its number or shape."""
    kind: str
    """`input`, `number`, `array` or `op`."""
    of: tuple[Term, ...] = ()
    number: float = 0.0


class Terms:
    """Makes terms of steps; arrays are known by their identity."""

    def __init__(self, inputs: Mapping[str, Tensor]) -> None:
        self._kept: list[Any] = list(inputs.values())
        self._known = {id(t.array): Term(name, "input") for name, t in inputs.items()}

    def follow(self, steps: Sequence[Step]) -> None:
        """Make terms of the results of all steps."""
        for step in steps:
            self._kept.append(step)
            of = tuple(self.term(each) for each in step.arguments if _is_value(each))
            for place, result in enumerate(step.results):
                name = step.op.strip("_")
                name += f"[{place}]" if len(step.results) > 1 else ""
                self._known[id(result.array)] = self._term(step.op, name, of, result)

    def term(self, value: Any) -> Term:
        """The term of a tensor or number."""
        if isinstance(value, Tensor):
            found = self._known.get(id(value.array))
            return found if found is not None else _constant(value)
        if isinstance(value, list | tuple):
            return Term("list", "op", tuple(self.term(each) for each in value))
        return Term(f"{value:.6g}" if isinstance(value, float) else str(value), "number", (), value)

    def _term(self, op: str, name: str, of: tuple[Term, ...], result: Tensor) -> Term:
        if op == "_zero" or (of and all(each.kind in ("number", "array") for each in of)):
            return _constant(result)
        if op in _SWAPPED and len(of) > 1:
            name = op = _SWAPPED[op]
            of = (of[1], of[0], *of[2:])
        tensors = [each for each in of if each.kind != "number"]
        if tensors and (op in _ALIKE or (op == "conj" and result.dtype.kind != "c")):
            return tensors[0]
        return _simplified(op, of) or Term(name, "op", of)


def _is_value(argument: Any) -> bool:
    if isinstance(argument, list | tuple):
        return any(isinstance(each, Tensor) for each in argument)
    is_number = isinstance(argument, int | float) and not isinstance(argument, bool)
    return isinstance(argument, Tensor) or is_number


def _constant(value: Tensor) -> Term:
    """A number, if all elements are the same; otherwise an array by its shape."""
    array = value.array
    if array.size and array.dtype.kind in "fiub" and (array == array.flat[0]).all():
        number = float(array.flat[0])
        return Term(f"{number:.6g}", "number", (), number)
    shape = "×".join(map(str, array.shape))
    return Term(f"constant[{shape}]", "array")


def _simplified(op: str, of: tuple[Term, ...]) -> Term | None:
    """The term without ones and zeros; None if there is nothing to leave out."""
    if op in ("add", "sub") and len(of) == 3 and of[2].kind == "number":
        scale = of[2].number
        if scale not in (1.0, 1):
            return Term(op, "op", (of[0], multiplied(of[2], of[1])))
        of = of[:2]
    match op, of:
        case "mul", (first, second):
            return multiplied(first, second)
        case "add", (Term(kind="number", number=0), other) | (other, Term(kind="number", number=0)):
            return other
        case "sub", (other, Term(kind="number", number=0)):
            return other
        case "div", (other, Term(kind="number", number=1)):
            return other
        case "pow", (other, Term(kind="number", number=1)):
            return other
        case "neg", (other,):
            return negative(other)
        case (("add" | "sub"), (first, second)):
            return Term(op, "op", (first, second))
    return None


def multiplied(first: Term, second: Term) -> Term:
    """The product of two terms."""
    for one, other in ((first, second), (second, first)):
        if one.kind == "number" and one.number == 1:
            return other
        if one.kind == "number" and one.number == 0:
            return one
        if one.kind == "number" and one.number == -1:
            return negative(other)
        if one.text == "neg" and one.kind == "op":
            return negative(multiplied(one.of[0], other))
    return Term("mul", "op", (first, second))


def negative(term: Term) -> Term:
    """A term with the other sign."""
    if term.text == "neg" and term.kind == "op":
        return term.of[0]
    return Term("neg", "op", (term,))


def written(term: Term, names: Mapping[Term, str], top: bool = False) -> tuple[str, int]:
    """A term as text, with how strongly it binds; those in `names` by name, but for the top."""
    if term in names and not top:
        return names[term], ATOM
    if term.kind != "op":
        return term.text, ATOM if not term.text.startswith("-") else _NEGATIVE
    if term.text in _INFIX and len(term.of) == 2:
        sign, own = _INFIX[term.text]
        left = _inside(term.of[0], own, names)
        # The right side of what is not associative needs brackets at the same strength.
        right = _inside(term.of[1], own + (term.text in ("sub", "div")), names)
        return f"{left}{sign}{right}", own
    if term.text == "pow" and len(term.of) == 2:
        return f"{_inside(term.of[0], ATOM, names)} ** {_inside(term.of[1], _POWER, names)}", _POWER
    if term.text == "neg":
        return f"-{_inside(term.of[0], _NEGATIVE, names)}", _NEGATIVE
    words = ", ".join(written(each, names)[0] for each in term.of)
    if term.text == "list":
        return f"[{words}]", ATOM
    return f"{term.text}({words})", ATOM


def _inside(term: Term, strength: int, names: Mapping[Term, str]) -> str:
    text, own = written(term, names)
    return text if own >= strength else f"({text})"
