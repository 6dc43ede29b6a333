"""Questions about a formula's tree that need no knowledge of what its functions mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .nodes import Assign, Block, Call, Expr, If, Name, Node, Return, Stmt

_N = TypeVar("_N", bound=Node)


def children(node: Node) -> list[Node]:
    """The nodes directly below, in the order of their fields."""
    found: list[Node] = []
    for name in _part_names(type(node)):
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):
            found += _nodes_in(value)
    return found


def _part_names(kind: type[Node]) -> tuple[str, ...]:
    """The fields of a kind of node that have nodes in them."""
    if kind not in _PART_NAMES:
        kinds = ((field.name, str(field.type)) for field in dataclasses.fields(kind))
        _PART_NAMES[kind] = tuple(n for n, text in kinds if "Expr" in text or "Stmt" in text)
    return _PART_NAMES[kind]


_PART_NAMES: dict[type[Node], tuple[str, ...]] = {}


def _field_names(node: Node) -> tuple[str, ...]:
    """The fields of a node, its span left out: that one can be given by keyword only."""
    return node.__match_args__


def _nodes_in(items: tuple[object, ...]) -> Iterator[Node]:
    for item in items:
        if isinstance(item, Node):
            yield item
        elif isinstance(item, tuple):
            yield from _nodes_in(item)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack += reversed(children(current))


def measure(node: Node) -> tuple[int, int]:
    """Count the nodes, this one and all below it, and how deep they go."""
    size = deepest = 0
    stack = [(node, 1)]
    while stack:
        current, depth = stack.pop()
        size, deepest = size + 1, max(deepest, depth)
        stack.extend((child, depth + 1) for child in children(current))
    return size, deepest


def calls(node: Node) -> Iterator[Call]:
    """Every call in a block or expression."""
    return (found for found in walk(node) if isinstance(found, Call))


def names(node: Node) -> Iterator[Name]:
    """Every place where a name is read, locals included."""
    return (found for found in walk(node) if isinstance(found, Name))


def free_names(block: Block) -> set[str]:
    """The names a block may read before it has assigned them: what it needs from outside."""
    return {name.id for name in free_uses(block)}


def free_uses(block: Block) -> Iterator[Name]:
    """Every place where a block may read a name that it has not assigned on that path."""
    found: list[Name] = []
    _visit(block.statements, set(), found)
    return iter(found)


def _visit(statements: tuple[Stmt, ...], assigned: set[str], found: list[Name]) -> set[str] | None:
    """Collect the names assigned after `statements`; None if they always return."""
    for statement in statements:
        match statement:
            case Assign(targets=targets, value=value):
                found += _unassigned(value, assigned)
                assigned = assigned | set(targets)
            case Return(value=value):
                found += _unassigned(value, assigned)
                return None
            case If(test=test, then=then, otherwise=otherwise):
                found += _unassigned(test, assigned)
                branches = [
                    after
                    for branch in (then, otherwise)
                    if (after := _visit(branch, assigned, found)) is not None
                ]
                if not branches:
                    return None
                assigned = set.intersection(*branches)
    return assigned


def _unassigned(value: Expr, assigned: set[str]) -> list[Name]:
    return [name for name in names(value) if name.id not in assigned]


def assigned_names(block: Block) -> set[str]:
    """The locals of a block: every name it assigns on some path."""
    return {target for made in assignments(block) for target in made.targets}


def assignments(block: Block) -> Iterator[Assign]:
    """Every assignment of a block, on any path."""
    return (found for found in walk(block) if isinstance(found, Assign))


def substitute(node: _N, values: Mapping[str, Expr]) -> _N | Expr:
    """A copy with every name of `values` replaced; the copy shares what did not change.

    A block that assigns one of the names must be renamed first: locals are not looked at.
    """
    if isinstance(node, Name):
        return values.get(node.id, node)
    changed = {
        name: new
        for name in _field_names(node)
        if (new := _substituted(old := getattr(node, name), values)) is not old
    }
    return _copy(node, changed) if changed else node


def with_parts(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node, or a tuple, with everything directly below it changed; spans stay."""
    if isinstance(node, tuple):
        return _same_or(node, tuple(map(change, node)))
    if not isinstance(node, Node):
        return node
    return _copy(node, {name: change(getattr(node, name)) for name in _field_names(node)})


def renamed(node: _N, names: Mapping[str, str]) -> _N:
    """A copy with other names, where they are read and where they are assigned."""
    if isinstance(node, Name):
        return _copy(node, {"id": names.get(node.id, node.id)})
    changed = {name: _renamed(getattr(node, name), names) for name in _field_names(node)}
    if isinstance(node, Assign):
        targets = tuple(names.get(target, target) for target in node.targets)
        changed["targets"] = _same_or(node.targets, targets)
    return _copy(node, changed)


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, Node):
        return renamed(value, names)
    if isinstance(value, tuple):
        return _same_or(value, tuple(_renamed(item, names) for item in value))
    return value


def _same_or(items: tuple[Any, ...], changed: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the first of two tuples if they have the same items, else the second."""
    return items if all(a is b for a, b in zip(items, changed, strict=True)) else changed


def _copy(node: _N, changes: dict[str, Any]) -> _N:
    """A node with other parts; itself if none is another one."""
    if all(getattr(node, name) is part for name, part in changes.items()):
        return node
    return dataclasses.replace(node, **changes)


def _substituted(value: object, values: Mapping[str, Expr]) -> object:
    if isinstance(value, Node):
        return substitute(value, values)
    if isinstance(value, tuple):
        return _same_or(value, tuple(_substituted(item, values) for item in value))
    return value
