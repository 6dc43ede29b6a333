"""Writes inside of transforms: to the examples of `vmap`, and to what a transform captures.

A batched tensor holds all examples, each with its own values. `gs.func.grad` and `jvp` refuse that
a tensor is written to which they capture. PyTorch wraps what is made inside of a transform; here
tensors are what they are everywhere: while a transform is under way in any thread, another function
makes them (`new_tensor`), which remembers when. After the last the former is put back, so that ops
pay nothing outside of transforms.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..batching.batched import Batched, aligned, batch, is_of
from ..batching.exposed import batches_of
from ..core.levels import open_levels
from ..core.node import Node
from ..core.storage import base_of, when_shared
from ..core.tensor import Tensor, new_tensor
from ..forward_ad.inplace_tangents import copy_as


def write_examples(written: Tensor, values: Any) -> Tensor:
    """Write values, a number or a tensor that broadcasts, to a batched tensor; returns that.

    RuntimeError where the values differ between examples and the tensor does not: they have no
    room in its memory.
    """
    if isinstance(values, Tensor):
        refuse_examples(written, values)
    assert isinstance(written, Batched)
    level = written.level
    if isinstance(values, Tensor) and is_of(values, level):
        values = aligned(values, written.ndim, level)
    written.physical.copy_(values)
    return written


def copy_examples(batched: Tensor) -> Tensor:
    """Copy a batched tensor as it is now, so that what a node keeps is not overwritten.

    Stands at the same place in the graph, and has the same tangents; see `copy_as`.
    """
    assert isinstance(batched, Batched)
    physical = batched.physical
    copied = copy_examples(physical) if type(physical) is Batched else copy_as(physical)
    return batch(copied, batched.level)


def refuse_examples(written: Tensor, *values: object) -> None:
    """Raise RuntimeError if a value differs between examples for which `written` is one tensor."""
    for value in values:
        if type(value) is Batched and batches_of(written, value) != batches_of(written):
            raise RuntimeError(
                "vmap: inplace arithmetic is not possible on a tensor that is the same for all "
                "examples, with values that differ between them: use the out-of-place operation"
            )


class Differentiated:
    """A transform under way, and the nodes that `autograd.grad` may be asked for inside of it."""

    __slots__ = ("depth", "made", "nodes")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.depth = len(open_levels())
        """The number of levels that were open when it began."""
        self.made: set[Node] = set()
        """Leaves that were made inside of it, those of transforms in it as well."""
        self.nodes = set(nodes)
        """Those that it differentiates by, and of leaves that were made inside of it alone."""


class _Births(threading.local):
    """The transforms that are under way in one thread, and the tensors made meanwhile."""

    def __init__(self) -> None:
        self.transforms: list[Differentiated] = []
        self.starts: list[int] = []
        """Times at which each began, the innermost last: the number of transforms before it."""
        self.now = 0
        self.made: dict[int, int] = {}
        """Times at which tensors were made or handed in, by `id`. A tensor that is older than the
        outermost transform shares its `id` with none of them, so they need not be kept."""


_births: Final = _Births()
_lock: Final = threading.Lock()
_plain: Final = new_tensor.__reduce__()[2]
_new: Final = object.__new__
_open: Final[list[None]] = []
"""One for each transform that is under way in any thread."""


def _born() -> Tensor:
    made = _new(Tensor)
    if _births.starts:
        _births.made[id(made)] = _births.now
    return made


@contextmanager
def inside(given: Iterable[Any], by: Iterable[Node] = ()) -> Iterator[Differentiated]:
    """A transform that calls its function on tensors, which may be written to, as PyTorch has it.

    The whole of what they are views of may be written to, too. `by`: the nodes with respect to
    which it differentiates.
    """
    births = _births
    transform = Differentiated(by)
    births.transforms.append(transform)
    births.now += 1
    births.starts.append(births.now)
    handed = {id(part): part for tensor in given for part in _parts(tensor)}
    before = {key: births.made.get(key) for key in handed}
    births.made.update(dict.fromkeys(handed, births.now))
    _count(1)
    try:
        yield transform
    finally:
        _count(-1)
        births.starts.pop()
        births.transforms.pop()
        if births.transforms:
            births.transforms[-1].made |= transform.made
        if births.starts:
            for key, when in before.items():  # the transforms around did not make these
                if when is None:
                    births.made.pop(key, None)
                else:
                    births.made[key] = when
        else:
            births.made.clear()


def _count(step: int) -> None:
    """Count a transform that begins or ends, and exchange the maker at the first and the last."""
    with _lock:
        if step > 0:
            _open.append(None)
        else:
            _open.pop()
        if not _open:
            new_tensor.__setstate__(_plain)  # type: ignore[attr-defined]
            when_shared.remove(_follow)
        elif step > 0 and len(_open) == 1:
            new_tensor.__setstate__((_born, (), {}, None))  # type: ignore[attr-defined]
            when_shared.append(_follow)


def _parts(tensor: Any) -> Iterator[Tensor]:
    """The plain tensors that a tensor of transforms is made of, and what they are views of."""
    tensor = _plain_of(tensor)
    if isinstance(tensor, Tensor):
        yield tensor
        base = base_of(tensor)
        if base is not None:
            yield base


def _plain_of(tensor: Any) -> Any:
    """The tensor that holds the values: that in a batched one, the primal of a dual."""
    while getattr(type(tensor), "_is_internal", False):
        below = getattr(tensor, "physical", None)
        tensor = tensor.primal if below is None else below
    return tensor


def is_captured_tensor(tensor: Tensor) -> bool:
    """Return whether a tensor, or what it is a view of, is older than the innermost transform."""
    plain = _plain_of(tensor)
    if type(plain) is not Tensor:  # of a class of a user's: it is not known when it was made
        return False
    start = _births.starts[-1]
    return any(_births.made.get(id(part), 0) < start for part in _parts(plain))


def refuse_captured(tensor: Tensor, name: str) -> None:
    """Raise RuntimeError where an op of this name is to write to what a transform captures."""
    if _open and _births.starts and is_captured_tensor(tensor):
        raise RuntimeError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
            f"call in-place operation (aten::{name}) that would mutate a captured Tensor. This is "
            "not supported; please rewrite the function being transformed to explicitly accept the "
            "mutated Tensor(s) as inputs."
        )


def refuse_transformed(call: str) -> None:
    """Raise RuntimeError if a transform is under way in this thread, `vmap` among them."""
    if _births.starts or any(level.is_outside for level in open_levels()):
        raise RuntimeError(
            f"{call} called inside a functorch transform (a function that func.grad, vjp, jvp, "
            "vmap or what is made of them runs): use these transforms instead, or call it outside"
        )


def note_leaf(node: Node) -> None:
    """Remember that a leaf was made, if a transform is under way in this thread."""
    if _births.transforms:
        innermost = _births.transforms[-1]
        innermost.made.add(node)
        innermost.nodes.add(node)


def forget_leaves(nodes: Iterable[Node]) -> None:
    """Take leaves that a transform has made for itself from those of the function around it."""
    if _births.transforms:
        innermost = _births.transforms[-1]
        innermost.made.difference_update(nodes)
        innermost.nodes.difference_update(nodes)


def innermost_differentiated() -> Differentiated | None:
    """Return the innermost transform other than `vmap`; None where there is none."""
    return _births.transforms[-1] if _births.transforms else None


def is_differentiated() -> bool:
    """Return whether a transform other than `vmap` is under way in this thread."""
    return bool(_births.starts)


def is_transformed(tensor: Tensor) -> bool:
    """Return whether a tensor is an argument of an open transform, or was made inside of one."""
    if type(tensor) is Batched:
        return True
    return bool(_births.starts) and any(id(part) in _births.made for part in _parts(tensor))


def _follow(tensor: Tensor, other: Tensor) -> None:
    """`other` is new, on the memory of `tensor`: it is captured if that is."""
    if _births.starts and is_captured_tensor(tensor):
        _births.made.pop(id(other), None)
