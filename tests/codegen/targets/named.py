"""Entries whose names are those that emitted code uses itself, and what their ops answer."""

from __future__ import annotations

import ast
import functools
import keyword
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gradspec_codegen.diagnostics import SpecError
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported

PLACES = ("op", "x", "y", "a", "local", "family")
USUAL = dict(zip(PLACES, ("mine", "x", "y", "a", "share", "family"), strict=True))

ENTRY = """
- family: {family}
- name: {op}(Tensor {x}, Tensor {y}, *, Scalar {a}=2) -> Tensor
  doc: An op.
  requires:
    - len({x}.shape) < 5 and {y}.ndim < 5 and {a} > 0
  forward: |
    {local} = sigmoid({x}) * {a}
    return {local} * {y}
  {x}: grad * {y} * {local} * (1 - {local} / {a})
  {y}: grad * {local}
  result: "{x}_t * {y}_p * {local} * (1 - {local} / {a}) + {local} * {y}_t"
  promotes: {x}, {y}
  int_to_float: true
- name: {op}_two(Tensor self, Tensor {y}, int[] {a}=[0]) -> (Tensor {x}, Tensor {local})
  doc: Two outputs.
  forward: (sin(self) * {y}, sum(self * {y}, {a}, True))
  self: grad_{x} * cos(self) * {y} + grad_{local} * {y}
  {y}: grad_{x} * sin(self) + grad_{local} * self
  {x}: self_t * cos(self_p) * {y}_p + sin(self_p) * {y}_t
  {local}: sum(self_t * {y}_p + self_p * {y}_t, {a}, True)
  output_differentiability: [true, true]
  examples: [{{self: [2], {y}: [2]}}]
- name: {op}_both(Tensor {x}, Tensor? {y}=None) -> Tensor
  doc: What calls the first.
  requires: ["{y} is None or {y}.shape == {x}.shape"]
  composite: {op}({x}, {x} if {y} is None else {y})
"""


@functools.cache
def names_of_emitted_code(name: str) -> tuple[str, ...]:
    """Names that packages for a framework read, assign, import or define."""
    usual = table_of([USUAL])
    assert usual is not None
    known = Table((*FILLED.ops, *usual.ops))
    files = FrameworkPackage(usual, known, framework(name), ORIGIN).files({})
    found = {"whole_kernels", *framework(name).context}
    for text in (files["family.py"], files["__init__.py"]):
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Name(id=word) | ast.arg(arg=word):
                    found.add(word)
                case ast.FunctionDef(name=word) | ast.ClassDef(name=word):
                    found.add(word)
                case ast.alias(name=word, asname=asname):
                    found |= {word.rpartition(".")[2], asname or word}
    found |= {"x_shape", "grad_x", "x_t", "Mine", "Mine_Reverse", "mine_ops", "_", "_x", "x_"}
    found |= {"out", "device", "inf", "each", "match", "type", "any", "len", "slice", "expected"}
    found |= {"tuple", "int", "float", "super", "object", "print", "map", "isinstance", "_support"}
    return tuple(sorted(filter(_is_sayable, found)))


def _is_sayable(word: str) -> bool:
    """Return whether a spec may call an argument, or at least an op, like that."""
    if not word.isidentifier() or not word.isascii() or "__" in word or keyword.iskeyword(word):
        return False
    return any(_loads({**USUAL, place: word}) for place in ("op", "x"))


def _loads(names: Mapping[str, str]) -> bool:
    is_public = not names["op"].startswith("_")
    return is_public and table_of([names]) is not None


def table_of(entries: Iterable[Mapping[str, str]], entry: str = ENTRY) -> Table | None:
    """The ops of entries with these names; None if the spec language refuses them."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "named.yaml"
        spec.write_text("".join(entry.format(**names) for names in entries), encoding="utf-8")
        try:
            return load_table(spec, base=FILLED)
        except SpecError:
            return None


def every_name_in_every_place(name: str) -> list[dict[str, str]]:
    """The names of entries, in which every name of emitted code stands in every place."""
    words = names_of_emitted_code(name)
    made = []
    for number in range(len(words)):
        names = {p: words[(number + 37 * i) % len(words)] for i, p in enumerate(PLACES)}
        if _loads(names):
            made.append(names)
            continue
        for place in PLACES:
            free = {"op": f"op{len(made)}", "family": f"family{len(made)}"}
            alone = {**USUAL, **free, place: names[place]}
            if _loads(alone):
                made.append(alone)
    return _without_namesakes(made)


def _without_namesakes(entries: list[dict[str, str]]) -> list[dict[str, str]]:
    """Entries whose ops may stand in one table: `a_b` and `aB` have the same node."""
    seen: set[str] = set()
    for number, names in enumerate(entries):
        stem = names["op"].replace("_", "").lower()
        if stem in seen:
            entries[number] = {**names, "op": f"op{number}x"}
        seen.add(stem)
    return entries


def package_of(table: Table, name: str, folder: Path) -> ModuleType:
    """The package of some ops for a framework."""
    known = Table((*FILLED.ops, *table.ops))
    return imported(FrameworkPackage(table, known, framework(name), ORIGIN).files({}), folder)


X, Y, A = np.array([0.3, -1.2]), np.array([0.7, 2.0]), 3.0
SIGMOID = 1 / (1 + np.exp(-X))
ONE = A * SIGMOID * Y
ONE_BY_X, ONE_BY_Y = A * SIGMOID * (1 - SIGMOID) * Y, A * SIGMOID
BOTH = 2 * SIGMOID * X
BOTH_BY_X = 2 * SIGMOID * (1 + X * (1 - SIGMOID))
TWO = np.sin(X) * Y, np.array([(X * Y).sum()])
TWO_BY_X, TWO_BY_Y = np.cos(X) * Y + Y, np.sin(X) + X

Derived = tuple[list[Any], list[Any], list[Any]]
"""Values, gradients of their sum, and tangents for tangents `Y` and `X`."""


def check(package: ModuleType, names: Mapping[str, str], derive: Callable[..., Derived]) -> None:
    """The three ops of an entry; `derive` asks a framework about a function at some arrays."""
    word = {place: text.removesuffix("_") or text for place, text in names.items()}
    one, two, both = (getattr(package, names["op"] + end) for end in ("", "_two", "_both"))
    cases = [
        (lambda x, y: one(x, y, **{word["a"]: A}), (X, Y), [ONE], [ONE_BY_X, ONE_BY_Y]),
        (lambda x, y: one(**{word["x"]: x, word["y"]: y, word["a"]: A}), (X, Y), [ONE], None),
        (two, (X, Y), TWO, [TWO_BY_X, TWO_BY_Y]),
        (lambda x: both(**{word["x"]: x}), (X,), [BOTH], [BOTH_BY_X]),
    ]
    for function, at, values, gradients in cases:
        found = derive(function, at, (Y, X)[: len(at)])
        for out, expected in zip(found[0], values, strict=True):
            np.testing.assert_allclose(out, expected)
        if gradients is not None:
            for out, expected in zip(found[1], gradients, strict=True):
                np.testing.assert_allclose(out, expected)
            moved = sum((g * t).sum() for g, t in zip(gradients, (Y, X), strict=False))
            np.testing.assert_allclose(sum(t.sum() for t in found[2]), moved)
