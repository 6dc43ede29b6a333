"""What the runtime knows about each op: filled by generated modules when they are imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple


class Param(NamedTuple):
    """One parameter: its name as the function spells it, its ATen type, and its default."""

    name: str
    type: str
    keyword_only: bool = False
    required: bool = True


class Op(NamedTuple):
    """One entry of the table, at run time."""

    name: str
    """`add.Tensor`"""
    function: Callable[..., Any]
    signature: str
    """`Tensor input, Tensor other, *, Scalar alpha=...`; read only when somebody asks."""
    promotes: tuple[str, ...] = ()
    """Tensor parameters that are brought to one dtype."""
    jvp: Callable[..., Any] | None = None
    """`jvp(primals, tangents, result)`: see `forward_ad`."""
    differentiable: bool = True
    """Whether the outputs depend on the inputs smoothly anywhere; a comparison's do not."""

    @property
    def params(self) -> tuple[Param, ...]:
        """The parameters, in order."""
        return _params(self.signature)


@cache
def _params(signature: str) -> tuple[Param, ...]:
    return tuple(_read(signature))


def _read(signature: str) -> Iterator[Param]:
    keyword_only = False
    for word in filter(None, signature.split(", ")):
        if word == "*":
            keyword_only = True
        else:
            type_, _, name = word.removesuffix("=...").rpartition(" ")
            yield Param(name, type_, keyword_only, not word.endswith("=..."))


OPS: Final[dict[Callable[..., Any], Op]] = {}
"""By function; an op is called by its function, so that is what the slow path looks up."""

BY_NAME: Final[dict[str, Op]] = {}
"""By full name; the ops of a family are here once its module has been imported."""


_LATER: Final[dict[str, tuple[str, ...]]] = {}
"""Modules that are imported when one of their ops is first used, and the base names of these."""


def import_later(package: str, families: dict[str, str]) -> None:
    """Name modules of a package that have further ops, and these by base name."""
    _LATER.update({f"{package}.{family}": tuple(ops.split()) for family, ops in families.items()})


def import_all() -> None:
    """Import them now: somebody asks what ops there are."""
    for module in _LATER:
        import_module(module)


def register(*ops: Op) -> None:
    """Make ops known; a name that is taken is an error, not a replacement."""
    for op in ops:
        if op.name in BY_NAME:
            raise ValueError(f"op {op.name!r} is already registered")
        BY_NAME[op.name] = OPS[op.function] = op


@cache
def table_op(name: str) -> Callable[..., Any]:
    """The op of the table called `name`, of any overload unless the name says which.

    LookupError if there is none.
    """
    base = name.partition(".")[0]
    for module, ops in _LATER.items():
        if base in ops:
            import_module(module)
    for full_name, op in tuple(BY_NAME.items()):  # another thread may be importing a family
        if name in (full_name, full_name.partition(".")[0]):
            return op.function
    raise LookupError(f"the runtime needs the op {name!r}, which the table does not have")
