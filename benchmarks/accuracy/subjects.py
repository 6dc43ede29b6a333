"""The subjects of a sweep: elementwise ops of one or two tensors, for each choice of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import gradspec_codegen.specs
from gradspec_codegen.prove.inputs.draw import examples_of
from gradspec_codegen.prove.inputs.kinks import is_elementwise
from gradspec_codegen.spec.load import load_table
from gradspec_codegen.spec.model import OpSpec, Table

TABLE: Final[Table] = load_table(
    Path(gradspec_codegen.specs.__file__).with_name("derivatives.yaml")
)

_MOST_TENSORS = 2


@dataclass(frozen=True, slots=True)
class Subject:
    """An op with a value for every argument that is no tensor."""

    op: OpSpec
    settings: tuple[tuple[str, Any], ...]
    """The arguments that differ from their defaults."""

    @property
    def label(self) -> str:
        """`softplus(beta=2, threshold=1)`"""
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.op.name}({settings})" if settings else self.op.name

    @property
    def tensors(self) -> tuple[str, ...]:
        """The names of the tensor arguments."""
        return tuple(p.name for p in self.op.signature.tensor_params)

    def arguments(self) -> dict[str, Any]:
        """The arguments that are no tensors, by name."""
        given = dict(self.settings)
        params = (p for p in self.op.signature.params if p.name not in self.tensors)
        return {p.name: given.get(p.name, p.default) for p in params}


def subjects(table: Table = TABLE) -> Iterator[Subject]:
    """Every subject of a table, in its order."""
    for op in table.ops:
        if not _is_swept(op):
            continue
        seen: set[tuple[tuple[str, Any], ...]] = set()
        for example in examples_of(op):
            defaults = {p.name: p.default for p in op.signature.params}
            settings = tuple(
                (name, value)
                for name, value in example.args
                if name not in {p.name for p in op.signature.tensor_params}
                and value != defaults[name]
            )
            if settings not in seen:
                seen.add(settings)
                yield Subject(op, settings)


def _is_swept(op: OpSpec) -> bool:
    tensors = op.signature.tensor_params
    return (
        is_elementwise(op)
        and len(tensors) <= _MOST_TENSORS
        and not any(p.type.is_list or p.type.is_optional for p in tensors)
        and (len(tensors) == 1 or {p.name for p in tensors} == set(op.promotes))
        and bool(op.differentiable_params)
        and not op.signature.name.startswith("_")
    )
