"""The primitives that a `forward` may call besides ops: proofs have an exact model of each.

`specs/primitives.yaml` lists those of NumPy and SciPy; kernels are the ones that the runtime names.
Nothing is imported to find out.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from ..ir.nodes import Call
from .runtime_files import runtime_directory


@dataclass(frozen=True, slots=True)
class Primitive:
    """A function, and how it may be called."""

    positional: tuple[str, ...]
    named: tuple[str, ...]
    """The arguments that may be given by name."""
    required: frozenset[str]
    is_elementwise: bool

    def misfit(self, call: Call) -> str:
        """Say why a call does not fit; empty if it does."""
        if len(call.args) > len(self.positional):
            limit, count = len(self.positional), len(call.args)
            return f"`{call.function}` takes {limit} by position, but is given {count}"
        given = set(self.positional[: len(call.args)])
        for name, _ in call.kwargs:
            if name not in self.named:
                return f"`{call.function}` has no argument `{name}` in a spec"
            if name in given:
                return f"`{call.function}` gets `{name}` twice"
            given.add(name)
        missing = sorted(self.required - given)
        return f"`{call.function}` needs `{missing[0]}`" if missing else ""


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """Facts that decide how generated code writes a call, by the name that formulas use."""

    pointwise: frozenset[str]
    """Functions of single elements, besides the elementwise primitives."""
    faster: Mapping[str, str]
    """The runtime's faster function."""
    members: Mapping[str, str]
    """Ops that are members of arrays and numbers, and how they are read."""


@functools.cache
def code_facts() -> CodeFacts:
    """Read the section `generated_code`."""
    table = _table()["generated_code"]
    return CodeFacts(**table | {"pointwise": frozenset(_names(table["pointwise"]))})


@dataclass(frozen=True, slots=True)
class DerivationFacts:
    """Facts about ops that a derivation by steps needs, by their names."""

    making_real: frozenset[str]
    making_complex: frozenset[str]
    as_large_as_first: frozenset[str]
    reducing: frozenset[str]
    summing: frozenset[str]
    repeating: frozenset[str]
    arrays: Mapping[str, tuple[str, ...]]
    """The op that each primitive is, with the names of its arguments behind the first; empty for
    those by position."""


@functools.cache
def derivation_facts() -> DerivationFacts:
    """Read the section `differentiation`."""
    sets = dict(_table()["differentiation"])
    arrays = {
        primitive: tuple(word.strip().removeprefix("-") for word in words.split(","))
        for primitive, words in sets.pop("arrays").items()
    }
    return DerivationFacts(
        **{key: frozenset(words.split()) for key, words in sets.items()}, arrays=arrays
    )


def _names(by_root: dict[str, str]) -> Iterator[str]:
    for root, words in by_root.items():
        if words == "all":
            yield from (name for name in primitives() if name.startswith(f"{root}."))
        else:
            yield from (word if root == "ops" else f"{root}.{word}" for word in words.split())


@functools.cache
def primitives() -> dict[str, Primitive]:
    """The primitives of NumPy and SciPy by the name that formulas give them, as `np.linalg.inv`."""
    table = _table()
    found = dict(_elementwise(table["elementwise"]))
    return found | {name: _of_arrays(words) for name, words in table["arrays"].items()}


@functools.cache
def _table() -> dict[str, Any]:
    text = (files("gradspec_codegen.specs") / "primitives.yaml").read_text("utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    return table


def _elementwise(table: dict[int, dict[str, str]]) -> Iterator[tuple[str, Primitive]]:
    for count, by_root in table.items():
        names = tuple(f"x{number}" for number in range(count))
        primitive = Primitive(names, (), frozenset(names), is_elementwise=True)
        for root, words in by_root.items():
            yield from ((f"{root}.{word}", primitive) for word in words.split())


def _of_arrays(words: str) -> Primitive:
    by_position, _, by_name = words.partition("*")
    given = [word.strip() for word in by_position.split(",") if word.strip()]
    words_by_name = [word.strip() for word in by_name.split(",") if word.strip()]
    both = [*given, *words_by_name]
    return Primitive(
        tuple(word.rstrip("?") for word in given),
        tuple(word.rstrip("?") for word in both),
        frozenset(word for word in both if not word.endswith("?")),
        is_elementwise=False,
    )


@functools.cache
def kernel_modules() -> dict[str, str]:
    """The kernels that the runtime offers to formulas, each with its module; read, not imported."""
    for node in _body("__init__"):
        match node:
            case ast.Assign(targets=[ast.Name(id="_NAMES")], value=value):
                by_module: dict[str, str] = ast.literal_eval(value)
                return {
                    f"kernels.{name}": module
                    for module, names in by_module.items()
                    for name in names.split()
                }
    raise RuntimeError("the runtime's kernels have no list of names")


@functools.cache
def kernel(function: str) -> Primitive | None:
    """Read a kernel's parameters; None where its source does not tell."""
    name = function.removeprefix("kernels.")
    for node in _body(kernel_modules()[function]):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return None if node.args.vararg else _of_definition(node.args)
    return None


def _of_definition(arguments: ast.arguments) -> Primitive:
    """`out` is for generated code alone: formulas write to nothing."""
    by_position = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    optional = {*by_position[len(by_position) - len(arguments.defaults) :], "out"}
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        optional |= set() if default is None else {argument.arg}
    both = [*by_position, *(a.arg for a in arguments.kwonlyargs)]
    return Primitive(
        tuple(name for name in by_position if name != "out"),
        tuple(name for name in both if name != "out"),
        frozenset(both) - optional,
        is_elementwise=False,
    )


@functools.cache
def _body(module: str) -> list[ast.stmt]:
    file = runtime_directory().joinpath("kernels", *module.split(".")).with_suffix(".py")
    return ast.parse(file.read_text("utf-8")).body
