"""Fills in the templates of `ops`: a call as text, and lines that make what it reads."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from .ops import FAMILIES, Family

Shape: TypeAlias = tuple[int, ...]
Known: TypeAlias = Mapping[str, tuple[Shape, str]]
"""Shape and dtype of the tensors that a program has, by name."""

_WORD = re.compile(r"\{([\w.]+)([+%=!^]*)\}")

REAL = {"complex128": "float64", "complex64": "float32"}
MIXED_DTYPES = ("float32", "float64", "int64")

WORDS: dict[str, Callable[[Call], Any]] = {
    "dim": lambda call: call.dim(),
    "n": lambda call: call.rng.choice([2, -1, 0, 0.5, 1.5, -0.3, 3]),
    "k": lambda call: call.rng.randint(1, 3),
    "p": lambda call: call.rng.choice(["1", "2", "3", "float('inf')", "2.5"]),
    "flag": lambda call: call.rng.random() < 0.5,
    "order": lambda call: tuple(call.rng.sample(range(len(call.first)), len(call.first))),
    "rows": lambda call: [call.rng.randrange(-n, n) for n in call.first[:1] * 2 if n],
    "gather": lambda call: call.positions(),
    "norm": lambda call: call.rng.choice(["", ", norm='ortho'", ", norm='forward'"]),
    "reduction": lambda call: call.rng.choice(
        ["", ", reduction='sum'", ", reduction='none'", ", reduction='mean'"]
    ),
}


class Call:
    """One call that is being drawn."""

    def __init__(
        self, rng: random.Random, known: Known, number: int, families: Sequence[Family] = FAMILIES
    ) -> None:
        self.rng = rng
        self.known = known
        self.number = number
        self.lines: list[str] = []
        self.text = ""
        self.first: Shape = ()
        """The shape of the first tensor."""
        self._letters: dict[str, int] = {}
        self._last_dim: int | None = None
        family = rng.choice(families)
        self.template = template = rng.choice(family.templates)
        mixes = family.may_mix and "F." not in template and not known and rng.random() < 0.25
        wide, narrow = family.dtypes
        base = wide if known or rng.random() < 0.8 else narrow
        self._may_be_empty = family.may_be_empty
        self._dtypes = list(MIXED_DTYPES) if mixes else [base]
        self._written: dict[str, str] = {}
        self.text = _WORD.sub(self._fill, template)

    def _fill(self, match: re.Match[str]) -> str:
        word, marks = match.groups()
        if word in WORDS:
            return str(WORDS[word](self))
        # The same word is the same tensor; sizes without a name are each one of their own.
        if word[0].isalpha() and "." not in word and word in self._written and len(word) == 1:
            return self._written[word]
        is_first = not self._written
        name = self._tensor(word, self._shape(word, is_first), marks, is_first)
        self._written[word] = name
        return name

    def _shape(self, word: str, is_first: bool) -> Shape:
        if word in ("x", "v", "m") and is_first:
            low = {"x": 0, "v": 1, "m": 2}[word]
            shapes = [shape for shape, _ in self.known.values() if len(shape) >= low]
            if shapes and self.rng.random() < 0.8:
                return self.rng.choice(shapes)
            return tuple(self._size() for _ in range(self.rng.randint(low, 3)))
        if word in ("s", "t", "mask", "x", "v", "m"):
            return self.first
        if word in ("y", "z"):
            return self._partner()
        if word == "q":
            return (2, 2)
        return tuple(
            int(part) if part.isdigit() else self._letters.setdefault(part, self._size())
            for part in word.split(".")
        )

    def _size(self) -> int:
        empty = self.rng.random() < 0.03 and self._may_be_empty
        return 0 if empty else self.rng.choice([1, 2, 2, 3, 3, 4])

    def _partner(self) -> Shape:
        """A shape that broadcasts to the first."""
        if self.rng.random() < 0.5:
            return self.first
        lengths = [1 if self.rng.random() < 0.4 else n for n in self.first]
        return tuple(lengths[self.rng.randint(0, len(lengths)) :])

    def dim(self) -> int:
        """A dimension of the first tensor, the same for all of a call; seldom one too many."""
        if self._last_dim is None:
            span = len(self.first) or 1
            wrong = self.rng.random() < 0.02
            self._last_dim = span if wrong else self.rng.randrange(-span, span)
        return self._last_dim

    def positions(self) -> str:
        """Positions along the dimension for every element of the first tensor, each once."""
        dim = self.dim() % len(self.first) if self.first else 0
        order = self.rng.sample(range(self.first[dim]), self.first[dim]) if self.first else [0]
        view = [1] * len(self.first)
        view[dim : dim + 1] = [-1]
        return f"T.tensor({order}, dtype=T.int64).view({view}).expand({self.first})"

    def _tensor(self, word: str, shape: Shape, marks: str, is_first: bool) -> str:
        if is_first:
            self.first = shape
        dtype = "bool" if word == "mask" else self.rng.choice(self._dtypes)
        if "^" in marks:
            dtype = REAL.get(dtype, dtype)
            marks = marks.replace("^", "")
        if self.known and not marks and self.rng.random() < 0.75:
            fits = [name for name, known in self.known.items() if known == (shape, dtype)]
            if fits:
                return self.rng.choice(fits)
        self.number += 1
        name = f"x{self.number}"
        self.lines.append(f"{name} = {creation(self.rng, shape, dtype, marks)}")
        return name


def creation(rng: random.Random, shape: Shape, dtype: str, marks: str = "") -> str:
    """A tensor as text; a part of them do not lie in memory in order."""
    count = math.prod(shape)
    is_leaf = dtype.startswith(("float", "complex")) and "=" not in marks and rng.random() < 0.75
    grad = ".requires_grad_()" if is_leaf else ""
    if not count:
        return f"T.zeros({shape}, dtype=T.{dtype}){grad}"
    layout = rng.random()
    if "!" in marks:
        layout = 1.0
    if len(shape) > 1 and layout < 0.1:
        values = nested(_elements(rng, count, dtype, marks), shape[::-1])
        order = tuple(range(len(shape)))[::-1]
        return f"T.tensor({values}, dtype=T.{dtype}).permute({order}).detach(){grad}"
    if shape and layout < 0.15:
        values = nested(_elements(rng, count * 2, dtype, marks), (*shape[:-1], shape[-1] * 2))
        return f"T.tensor({values}, dtype=T.{dtype})[..., ::2].detach(){grad}"
    return f"T.tensor({nested(_elements(rng, count, dtype, marks), shape)}, dtype=T.{dtype}){grad}"


def _elements(rng: random.Random, count: int, dtype: str, marks: str) -> list[Any]:
    """Numbers in a domain, all different where they are floats: nothing is promised about ties."""
    low, high = (0.3, 3.0) if "+" in marks else (0.05, 0.95) if "%" in marks else (-2.0, 2.0)
    if dtype == "bool":
        return [rng.random() < 0.5 for _ in range(count)]
    if dtype == "int64":
        return [rng.randint(1 if marks else -3, 4) for _ in range(count)]
    if dtype.startswith("complex"):
        return list(map(complex, numbers(rng, count), numbers(rng, count)))
    return numbers(rng, count, low, high)


def numbers(rng: random.Random, count: int, low: float = -2.0, high: float = 2.0) -> list[float]:
    """Different numbers in some order."""
    step = (high - low) / (count + 1)
    values = [round(low + step * (i + rng.uniform(0.55, 1.0)), 4) for i in range(count)]
    rng.shuffle(values)
    return values


def nested(values: list[Any], shape: Shape) -> Any:
    """Values in nested lists of a shape."""
    if not shape:
        return values[0]
    part = len(values) // shape[0]
    return [nested(values[i * part : (i + 1) * part], shape[1:]) for i in range(shape[0])]
