"""The ops of unseen.yaml, which stand in no table: emitted, and called at the examples."""

from __future__ import annotations

import functools
import importlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gradspec_codegen import auto
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table
from gradspec_codegen.targets.frameworks import framework
from gradspec_codegen.targets.package import FrameworkPackage
from tests.codegen.targets.agreement import (
    cases_of,
    differentiable,
    numbers_like,
    placed,
    positional,
    taken,
)
from tests.codegen.targets.emitted import FILLED, ORIGIN, imported
from tests.ops.cases import Arguments, variables

_SPEC = Path(__file__).with_name("unseen.yaml")


@functools.cache
def table() -> Table:
    """The ops with the rules that their entries leave out."""
    loaded = load_table(_SPEC, base=FILLED)
    return auto.fill_in(loaded, Table((*FILLED.ops, *loaded.ops)), {})


@functools.cache
def package(name: str) -> ModuleType:
    """The package for a framework, imported from a folder that lives as long as the process."""
    known = Table((*FILLED.ops, *table().ops))
    files = FrameworkPackage(table(), known, framework(name), ORIGIN).files({})
    return imported(files, Path(tempfile.mkdtemp(prefix="gradspec-unseen-")))


@dataclass(frozen=True)
class Called:
    """One call of an op as a function of the arrays that it is differentiated by."""

    op: OpSpec
    arguments: Arguments
    wanted: list[int]
    """The positions of the outputs with a gradient."""

    @property
    def places(self) -> list[tuple[str, int | None]]:
        return variables(self.op, self.arguments)

    @property
    def leaves(self) -> list[Any]:
        return taken(self.arguments, self.places)

    @property
    def tangents(self) -> list[Any]:
        return [numbers_like(leaf, "tangent") for leaf in self.leaves]

    def of(self, function: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[..., Any]:
        """The call of a function with the arguments of the op, answering the wanted outputs."""

        places = self.places
        unchanged = placed(self.arguments, [], [], convert)

        def call(*leaves: Any) -> tuple[Any, ...]:
            given = dict(unchanged)
            for name in {name for name, number in places if number is not None}:
                given[name] = list(given[name])
            for (name, number), leaf in zip(places, leaves, strict=True):
                if number is None:
                    given[name] = leaf
                else:
                    given[name][number] = leaf
            words, named = positional(self.op, given)
            out = function(*words, **named)
            several = tuple(out) if isinstance(out, (tuple, list)) else (out,)
            return tuple(several[i] for i in self.wanted)

        return call


def calls_of(op: OpSpec, name: str, convert: Callable[[Any], Any]) -> Iterator[Called]:
    """The calls that the examples of an op make of the function for a framework."""
    for case in cases_of(op):
        arguments = case.arguments()
        out = _all_outputs(op, arguments, name, convert)
        yield Called(op, arguments, differentiable(op, [np.asarray(each) for each in out]))


def _all_outputs(
    op: OpSpec, arguments: Arguments, name: str, convert: Callable[[Any], Any]
) -> tuple[Any, ...]:
    given = placed(arguments, [], [], convert)
    words, named = positional(op, given)
    out = function_of(op, name)(*words, **named)
    return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def function_of(op: OpSpec, name: str) -> Any:
    """The emitted function of an op."""
    return getattr(package(name), op.signature.name)


def module_of(op: OpSpec, name: str) -> ModuleType:
    """The emitted module of an op."""
    return importlib.import_module(f"{package(name).__name__}.{op.family}")
