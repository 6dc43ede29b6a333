"""Plan what a node saves for its gradients: computed from the formulas, never declared.

Only what a needed gradient reads is kept; where a formula reads nothing but the shape of an
argument, the shape is kept and not the array. What the forward has computed already, because a
formula begins with the same assignment, is kept as a `local`; it is computed anew where hooks may
have replaced what it was made of.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..ir import nodes as ir
from ..ir.walk import assigned_names, children, free_names, with_parts
from ..spec.model import Formula, OpSpec
from ..spec.shared_locals import shared_assignments
from .scopes import slot

Source: TypeAlias = Literal["tensor", "tensors", "value", "output", "attribute", "local"]

OPTIONS = "options"
"""The slot with everything saved that is no tensor and no array: one tuple."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One thing a node keeps: `name` in the formulas, the slot it lives in, and for whom."""

    name: str
    source: Source
    slot: str
    wanted_by: tuple[str, ...]
    """The arguments whose gradient reads it."""
    attribute: str = ""
    """For the source `attribute` which: `shape`, `ndim`, `dtype` or `meta`."""
    of: str = ""
    """The argument whose attribute it is."""
    is_optional: bool = False

    @property
    def is_option(self) -> bool:
        """True if it is an item of the tuple in `OPTIONS`."""
        return self.slot == OPTIONS


@dataclass(frozen=True, slots=True)
class SavedFormulas:
    """The VJP formulas of an op, reading saved attributes by name, and what they read."""

    formulas: tuple[tuple[tuple[str, ...], Formula], ...]
    saved: tuple[Saved, ...]

    @property
    def options(self) -> tuple[Saved, ...]:
        """The items of the tuple in `OPTIONS`, in order."""
        return tuple(saved for saved in self.saved if saved.is_option)


def plan_saves(op: OpSpec) -> SavedFormulas:
    """Plan what the node of `op` saves."""
    tensors = {p.name for p in op.signature.tensor_params}
    own = {thing.name for thing in op.signature.named}
    formulas = []
    readers: dict[str, list[str]] = {}
    local_readers: dict[str, list[str]] = {}
    attributes: dict[str, tuple[str, str]] = {}
    for names, rule in op.vjps:
        if not isinstance(rule, Formula):
            continue
        block, found = name_attributes(rule.block, tensors, own)
        attributes |= found
        formulas.append((names, dataclasses.replace(rule, block=block)))
        for name in free_names(block):
            readers.setdefault(name, []).extend(names)
        for assignment in shared_assignments(rule.block, op.implementation):
            for name in assignment.targets:
                local_readers.setdefault(name, []).extend(names)
    saved = [
        _saved(op, name, tuple(readers[name]), attributes)
        for name in sorted(readers)
        if _is_kept(op, name, attributes)
    ]
    saved += [
        Saved(name, "local", slot("computed", name), tuple(names))
        for name, names in local_readers.items()
    ]
    return SavedFormulas(tuple(formulas), tuple(saved))


def _is_kept(op: OpSpec, name: str, attributes: dict[str, tuple[str, str]]) -> bool:
    known = {p.name for p in op.signature.params} | {o.name for o in op.signature.outputs}
    return name in known or name in attributes


def _saved(
    op: OpSpec, name: str, wanted_by: tuple[str, ...], attributes: dict[str, tuple[str, str]]
) -> Saved:
    if name in attributes:
        of, attribute = attributes[name]
        return Saved(name, "attribute", OPTIONS, wanted_by, attribute, of)
    param = next((p for p in op.signature.params if p.name == name), None)
    if param is None:
        # Of one that carries no gradient the tensor can be kept: it does not lead back to the node.
        carries = name in {output for output, _ in op.jvps}
        return Saved(name, "output" if carries else "tensor", slot("saved", name), wanted_by)
    if param.type.base != "Tensor":
        return Saved(name, "value", OPTIONS, wanted_by)
    source: Source = "tensors" if param.type.is_list else "tensor"
    return Saved(name, source, slot("saved", name), wanted_by, is_optional=param.type.is_optional)


def name_attributes(
    block: ir.Block, tensors: set[str], own: set[str]
) -> tuple[ir.Block, dict[str, tuple[str, str]]]:
    """`self.shape` becomes the name `self_shape` wherever the array itself is not read.

    `self.strides` always does: they are those of the array, and tensors do not have them.
    So does `tensors.meta`: shapes and dtypes of a list, as tensors without elements.
    """
    read_whole = _read_whole(block, tensors)
    taken = own | assigned_names(block)
    found: dict[str, tuple[str, str]] = {}

    def rewrite(value: Any) -> Any:
        match value:
            case ir.Attribute(ir.Name(tensor), attribute) if tensor in tensors and (
                tensor not in read_whole or attribute in ("strides", "meta")
            ):
                name = f"{tensor}_{attribute}"
                if name in taken:
                    name = f"{tensor}__{attribute}"
                found[name] = (tensor, attribute)
                return ir.Name(name, span=value.span)
            case _:
                return with_parts(value, rewrite)

    return rewrite(block), found


def _read_whole(block: ir.Block, tensors: set[str]) -> set[str]:
    """The tensors of which more than an attribute is read."""
    found: set[str] = set()
    pending: list[ir.Node] = [block]
    while pending:
        match node := pending.pop():
            case ir.Attribute(ir.Name(), _):
                pass
            case ir.Name(name):
                found.add(name)
            case _:
                pending += children(node)
    return found & tensors
