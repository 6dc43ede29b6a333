"""Several outputs under names: what `svd` and `max(dim)` return."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, ClassVar, Self

from ..core.tensor import Tensor


class Result(tuple[Tensor, ...]):
    """A tuple whose items are also attributes: those that the subclass annotates, in order.

    `typing.NamedTuple` does the same, but takes ten times as long to make a class, and there are
    many in the generated library.
    """

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]] = ()
    _shown: ClassVar[str] = "result"

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        for position, name in enumerate(cls._fields):
            setattr(cls, name, property(itemgetter(position)))

    def __new__(cls, *items: Any) -> Self:
        """One item for each name; or all of them in one sequence."""
        if len(items) == 1 != len(cls._fields):
            items = tuple(items[0])
        if len(items) != len(cls._fields):
            raise TypeError(f"{cls.__name__} has {len(cls._fields)} items, not {len(items)}")
        return super().__new__(cls, items)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        named = (f"\n{name}={item!r}" for name, item in zip(self._fields, self, strict=True))
        return f"{self._shown}({','.join(named)})"
