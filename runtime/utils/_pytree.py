"""Trees of containers as lists of leaves, and back: PyTorch's `torch.utils._pytree`.

As there, None is a leaf. Further containers are made known by `register_pytree_node`.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ..func.trees import CONTAINERS

__all__ = [
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "SequenceKey",
    "TreeSpec",
    "key_get",
    "keystr",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
]

PyTree = Any
Flatten = Callable[[Any], tuple[list[Any], Any]]
Unflatten = Callable[[Iterable[Any], Any], Any]


@dataclass(frozen=True)
class SequenceKey:
    """Key of an item in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the item of a sequence."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """Key of an item in a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the item of a mapping."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The attribute that an item is."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the attribute of an object."""
        return getattr(obj, self.name)


KeyPath = tuple[Any, ...]


def _positions(items: Any) -> list[Any]:
    return [SequenceKey(index) for index in range(len(items))]


def _mapping_keys(items: Any) -> list[Any]:
    return [MappingKey(key) for key in items]


class _Kind(NamedTuple):
    """Functions that take a container apart and put it together, and keys of its items."""

    flatten: Flatten
    unflatten: Unflatten
    keys: Callable[[Any], list[Any]] | None


_KINDS: Final[dict[type, _Kind]] = {
    tuple: _Kind(lambda t: (list(t), None), lambda items, _: tuple(items), _positions),
    list: _Kind(lambda t: (list(t), None), lambda items, _: list(items), _positions),
    dict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda items, keys: dict(zip(keys, items, strict=True)),
        _mapping_keys,
    ),
    OrderedDict: _Kind(
        lambda t: (list(t.values()), list(t)),
        lambda items, keys: OrderedDict(zip(keys, items, strict=True)),
        _mapping_keys,
    ),
    defaultdict: _Kind(
        lambda t: (list(t.values()), [t.default_factory, list(t)]),
        lambda items, context: defaultdict(context[0], zip(context[1], items, strict=True)),
        _mapping_keys,
    ),
    deque: _Kind(
        lambda t: (list(t), t.maxlen), lambda items, length: deque(items, length), _positions
    ),
}

_NAMED_TUPLE: Final = _Kind(
    lambda t: (list(t), type(t)),
    lambda items, kind: kind(*items),
    lambda t: [GetAttrKey(name) for name in t._fields],
)


def register_pytree_node(
    cls: type,
    flatten_fn: Flatten,
    unflatten_fn: Unflatten,
    *,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
    **_: Any,
) -> None:
    """Make a class known as a container: how to take it apart, and put it together.

    Transforms of `gs.func` take it for one, too.

    `flatten_with_keys_fn` returns pairs of a key and an item; functions that tell paths need it.
    ValueError for a class that is known.
    """
    if cls in _KINDS:
        raise ValueError(f"{cls} is already registered as pytree node.")
    with_keys = flatten_with_keys_fn
    keys = None if with_keys is None else lambda t: [key for key, _ in with_keys(t)[0]]
    _KINDS[cls] = _Kind(flatten_fn, unflatten_fn, keys)
    CONTAINERS[cls] = (flatten_fn, unflatten_fn)


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
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.is_leaf():
            return "*"
        separator = ",\n" + " " * (indent + 2)
        children = separator.join(child._text(indent + 2) for child in self.children_specs)
        return f"TreeSpec({self.type.__name__}, {self.context!r}, [{children}])"


def LeafSpec() -> TreeSpec:
    """The structure of a leaf."""
    return TreeSpec(None, None, [])


def _kind_of(tree: PyTree) -> tuple[Any, _Kind] | None:
    """The container that something is, as `TreeSpec.type` has it; None for a leaf."""
    kind = type(tree)
    if kind in _KINDS:
        return kind, _KINDS[kind]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return namedtuple, _NAMED_TUPLE  # PyTorch's name for all of them
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
    """Return the subtrees of a tree where another has its leaves; ValueError if they do not fit."""
    if spec.is_leaf():
        return [tree]
    found = _kind_of(tree)
    items, context = found[1].flatten(tree) if found else ([], None)
    fits = found is not None and found[0] is spec.type and len(items) == spec.num_children
    if spec.type is namedtuple:
        fits = fits and context is spec.context
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


def tree_map_only_(
    type_or_types: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call a function on leaves of some types; return the tree itself."""
    tree_map_only(type_or_types, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether a condition holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether a condition holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Return whether a condition holds for all leaves of some types."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """Return whether a condition holds for a leaf of some types."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


# ---- with the paths to the leaves


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Return whether something is a leaf: no container, or one that counts as a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _kind_of(tree) is None


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, in order, each after the keys that lead to it.

    ValueError for a container that was registered without `flatten_with_keys_fn`.
    """
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    found = _kind_of(tree)
    assert found is not None
    type_, kind = found
    if kind.keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type_}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    return [
        ((key, *path), leaf)
        for key, item in zip(kind.keys(tree), kind.flatten(tree)[0], strict=True)
        for path, leaf in tree_leaves_with_path(item, is_leaf)
    ]


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves of a tree with their paths, as `tree_leaves_with_path`, and its structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The tree with `func(path, leaf, *others)` for its leaves: see `tree_map`."""
    paths, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_leaves_like(spec, rest) for rest in rests]
    made = [func(path, leaf, *rest) for (path, leaf), *rest in zip(paths, *others, strict=True)]
    return tree_unflatten(made, spec)


def keystr(kp: KeyPath) -> str:
    """A path as the code that follows it: `['a'][0].x`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """Return what a path leads to in a tree."""
    for key in kp:
        obj = key.get(obj)
    return obj
