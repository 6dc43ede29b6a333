"""Nested tuples, lists, dicts and dataclasses of tensors: arguments and results of transforms.

Further containers are those that `utils._pytree.register_pytree_node` has made known. A dataclass
counts as such where one of its fields holds a tensor or an array; others are leaves.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import numpy as np

from ..core.tensor import Tensor

Apart = Callable[[Any], tuple[Any, Any]]
Together = Callable[[Any, Any], Any]


class StandIn:
    """A leaf that stands for a tensor in a structure that is filled in later."""

    __slots__ = ()


CONTAINERS: Final[dict[type, tuple[Apart, Together]]] = {
    deque: (lambda d: (list(d), d.maxlen), lambda items, length: deque(items, length)),
    defaultdict: (
        lambda d: (list(d.values()), (d.default_factory, list(d))),
        lambda items, context: defaultdict(context[0], zip(context[1], items, strict=True)),
    ),
}
"""Functions for containers of other types: into items and a context, and back."""


def leaves_of(tree: Any) -> list[Any]:
    """List the leaves of tuples, lists and dicts, in order; None is no leaf."""
    found: list[Any] = []
    _collect(tree, found)
    return found


def _collect(tree: Any, found: list[Any]) -> None:
    """Append the leaves of a tree."""
    items: Iterable[Any] = ()
    if isinstance(tree, Tensor):
        found.append(tree)
    elif type(tree) in CONTAINERS:
        items = CONTAINERS[type(tree)][0](tree)[0]
    elif isinstance(tree, list | tuple):
        items = tree
    elif isinstance(tree, dict):
        items = tree.values()
    elif _is_record(tree):
        items = _fields(tree).values()
    elif tree is not None:
        found.append(tree)
    for item in items:
        _collect(item, found)


def map_leaves(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same tuples, lists and dicts, with a function applied to what stands in them."""
    if isinstance(tree, Tensor):
        return function(tree)
    if type(tree) in CONTAINERS:
        apart, together = CONTAINERS[type(tree)]
        parts, context = apart(tree)
        return together([map_leaves(function, item) for item in parts], context)
    if isinstance(tree, list | tuple):
        return rebuilt(tree, [map_leaves(function, item) for item in tree])
    if isinstance(tree, dict):
        return type(tree)((key, map_leaves(function, item)) for key, item in tree.items())
    if _is_record(tree):
        items = {key: map_leaves(function, item) for key, item in _fields(tree).items()}
        return replace(tree, **items)
    return None if tree is None else function(tree)


def with_leaves(tree: Any, leaves: list[Any]) -> Any:
    """The same tuples, lists and dicts with other leaves."""
    left = iter(leaves)
    return map_leaves(lambda _: next(left), tree)


def rebuilt(like: Any, items: list[Any]) -> Any:
    """A list or tuple of the type of another one; a named tuple takes its fields one by one."""
    return type(like)(*items) if hasattr(like, "_fields") else type(like)(items)


def parts_of(tree: Any) -> tuple[Any, list[Any]] | None:
    """The items of a dataclass, or of another container that is made known, and what it is besides.

    None for others. What it is can be compared and hashed.
    """
    if type(tree) in CONTAINERS:
        parts, context = CONTAINERS[type(tree)][0](tree)
        return (type(tree), len(parts), repr(context)), list(parts)
    if _is_record(tree):
        items = _fields(tree)
        return (type(tree), tuple(items)), list(items.values())
    return None


def spread(prefix: Any, tree: Any) -> list[Any]:
    """One value for each leaf of a tree: those of a prefix of it stand for all below them.

    Raises ValueError where the one does not fit the other.
    """
    if type(tree) in CONTAINERS:
        apart = CONTAINERS[type(tree)][0]
        parts = apart(tree)[0]
        prefixes = apart(prefix)[0] if type(prefix) is type(tree) else [prefix] * len(parts)
        return [value for pair in zip(prefixes, parts, strict=True) for value in spread(*pair)]
    if isinstance(prefix, list | tuple) and isinstance(tree, list | tuple):
        if len(prefix) != len(tree):
            raise ValueError(f"{len(prefix)} values for {len(tree)} items")
        return [value for pair in zip(prefix, tree, strict=True) for value in spread(*pair)]
    if isinstance(prefix, dict) and isinstance(tree, dict):
        if prefix.keys() != tree.keys():
            raise ValueError(f"values for {list(prefix)}, not for {list(tree)}")
        return [value for key, item in tree.items() for value in spread(prefix[key], item)]
    if _is_record(tree):
        of_fields = _fields(prefix) if type(prefix) is type(tree) else None
        return [
            value
            for key, item in _fields(tree).items()
            for value in spread(prefix if of_fields is None else of_fields[key], item)
        ]
    if isinstance(prefix, list | tuple | dict):
        raise ValueError(f"{type(prefix).__name__} for a {type(tree).__name__}")
    return [prefix for _ in leaves_of(tree)]


def _is_record(tree: Any) -> bool:
    """Return whether a value is a dataclass with tensors or arrays in its fields."""
    if isinstance(tree, Tensor | type) or not is_dataclass(tree):
        return False
    leaves = leaves_of(list(_fields(tree).values()))
    return any(isinstance(leaf, Tensor | np.ndarray | StandIn) for leaf in leaves)


def _fields(record: Any) -> dict[str, Any]:
    """Return the fields that the dataclass is made from, by name."""
    return {field.name: getattr(record, field.name) for field in fields(record) if field.init}


def tree_structure(tree: Any) -> Any:
    """A tree without its leaves: equal for trees of one structure."""
    if type(tree) in CONTAINERS:
        parts, context = CONTAINERS[type(tree)][0](tree)
        return (type(tree), context, [tree_structure(part) for part in parts])
    if isinstance(tree, list | tuple):
        return rebuilt(tree, [tree_structure(item) for item in tree])
    if isinstance(tree, dict):
        return type(tree)((key, tree_structure(item)) for key, item in tree.items())
    return map_leaves(lambda _: "*", tree)
