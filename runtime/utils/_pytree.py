"""Trees of containers as lists of leaves, and back: PyTorch's `torch.utils._pytree`.

As there, None is a leaf. Further containers are made known by `register_pytree_node`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

__all__ = [
    "LeafSpec",
    "TreeSpec",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
Flatten = Callable[[Any], tuple[list[Any], Any]]
Unflatten = Callable[[Iterable[Any], Any], Any]


class _Kind(NamedTuple):
    """How a container is taken apart and put together."""

    flatten: Flatten
    unflatten: Unflatten


_KINDS: Final[dict[type, _Kind]] = {
    tuple: _Kind(lambda t: (list(t), None), lambda items, _: tuple(items)),
    list: _Kind(lambda t: (list(t), None), lambda items, _: list(items)),
    dict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda items, keys: dict(zip(keys, items, strict=True)),
    ),
    OrderedDict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda items, keys: OrderedDict(zip(keys, items, strict=True)),
    ),
    defaultdict: _Kind(
        lambda t: (list(t.values()), [t.default_factory, list(t)]),
        lambda items, context: defaultdict(context[0], zip(context[1], items, strict=True)),
    ),
    deque: _Kind(lambda t: (list(t), t.maxlen), lambda items, length: deque(items, length)),
}

_NAMED_TUPLE: Final = _Kind(lambda t: (list(t), type(t)), lambda items, kind: kind(*items))


def register_pytree_node(cls: type, flatten_fn: Flatten, unflatten_fn: Unflatten, **_: Any) -> None:
    """Make a class known as a container: how to take it apart, and put it together."""
    if cls in _KINDS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _KINDS[cls] = _Kind(flatten_fn, unflatten_fn)


class TreeSpec:
    """The structure of a tree: a container, what it needs beside its items, and their structures.

    A leaf has no container.
    """

    def __init__(self, type: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type = type
        self.context = context
        self.children_specs = children
        self.num_children = len(children)
        below = [child.num_leaves for child in children]
        self.num_leaves: int = 1 if type is None else sum(below)
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children)

    def is_leaf(self) -> bool:
        """Return whether it is the structure of a leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Put leaves into this structure."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (
            (self.type, self.context, self.children_specs)
            == (other.type, other.context, other.children_specs)
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves, self.num_nodes))

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        children = ", ".join(map(repr, self.children_specs))
        return f"TreeSpec({self.type.__name__}, {self.context!r}, [{children}])"


def LeafSpec() -> TreeSpec:
    """The structure of a leaf."""
    return TreeSpec(None, None, [])


def _kind_of(tree: PyTree) -> tuple[type, _Kind] | None:
    kind = type(tree)
    if kind in _KINDS:
        return kind, _KINDS[kind]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind, _NAMED_TUPLE
    return None


IsLeaf = Callable[[Any], bool] | None


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, in order, and its structure."""
    found = None if is_leaf is not None and is_leaf(tree) else _kind_of(tree)
    if found is None:
        return [tree], LeafSpec()
    type_, kind = found
    items, context = kind.flatten(tree)
    leaves: list[Any] = []
    specs = []
    for item in items:
        below, spec = tree_flatten(item, is_leaf)
        leaves += below
        specs.append(spec)
    return leaves, TreeSpec(type_, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a structure with these leaves; ValueError for another number of them."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but "
            f"got item of type {type(treespec)}."
        )
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(given)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _built(iter(given), treespec)


def _built(leaves: Any, spec: TreeSpec) -> PyTree:
    if spec.is_leaf():
        return next(leaves)
    kind = _KINDS.get(spec.type, _NAMED_TUPLE)
    return kind.unflatten([_built(leaves, child) for child in spec.children_specs], spec.context)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """The leaves of a tree, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The tree with a function applied to its leaves, and to those of others of its structure."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_leaves_like(spec, rest) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others, strict=True)], spec)


def _leaves_like(spec: TreeSpec, tree: PyTree) -> list[Any]:
    """What stands in a tree where another has its leaves; ValueError if they do not fit."""
    if spec.is_leaf():
        return [tree]
    found = _kind_of(tree)
    items, context = found[1].flatten(tree) if found else ([], None)
    fits = found is not None and found[0] is spec.type and len(items) == spec.num_children
    if fits and spec.type in (dict, OrderedDict):
        fits = set(context or ()) == set(spec.context)
        items = [tree[key] for key in spec.context] if fits else []
    if not fits:
        raise ValueError(f"Node type mismatch; expected {spec.type}, but got {type(tree)}.")
    children = zip(spec.children_specs, items, strict=True)
    return [leaf for child, item in children for leaf in _leaves_like(child, item)]


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call a function on the leaves, as `tree_map`; return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(
    type_or_types: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The tree with a function applied to leaves of some types; the others stay."""
    if not isinstance(type_or_types, type | tuple) and callable(type_or_types):
        return tree_map(lambda x: func(x) if type_or_types(x) else x, tree, is_leaf=is_leaf)
    return tree_map(lambda x: func(x) if isinstance(x, type_or_types) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether a condition holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether a condition holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))
