"""`gs.ops.aten`: the ops of the table by the names that PyTorch's dispatcher has for them.

`gs.ops.aten.add.Tensor` is one op, and `gs.ops.aten.add` the function that chooses among those of
its name. `gs.ops.aten.add_` is the method that writes in place. Policies of selective checkpoints
are given such ops, and compare with them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from .core.tensor import Tensor
from .dispatch.registry import BY_NAME, public_function, table_op

__all__ = ["OpOverload", "OpOverloadPacket", "aten", "overload_named"]


class OpOverload:
    """One op of the table; calling it calls the op."""

    def __init__(self, full_name: str) -> None:
        base, _, overload = full_name.partition(".")
        self._function: Callable[..., Any] = _written(base) or BY_NAME[full_name].function
        self._full_name = full_name
        self._overloadname = overload or "default"
        self.__name__ = f"{base}.{self._overloadname}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def name(self) -> str:
        """The name of the op: `aten::add.Tensor`."""
        return f"aten::{self._full_name}"

    @property
    def overloadpacket(self) -> OpOverloadPacket:
        """The function of this name."""
        return packet_named(self._full_name.partition(".")[0])

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        base = self._full_name.partition(".")[0]
        return f"<OpOverload(op='aten.{base}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """The ops of one name, by the names of their overloads; calling it chooses among them."""

    def __init__(self, base: str) -> None:
        self._function: Callable[..., Any] = _written(base) or public_function(table_op(base))
        self.__name__ = base

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        op = self.__name__
        if _written(op) is not None:
            op = op.removesuffix("_")  # whose overloads the method has
            with suppress(LookupError):
                table_op(op)  # imports its family
        names = (name.partition(".") for name in tuple(BY_NAME))
        found = [overload or "default" for base, _, overload in names if base == op]
        return found or ["default"]  # `zero_` has no op that it writes

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__") or overload not in self.overloads():
            raise AttributeError(
                f"The underlying op of 'aten.{self.__name__}' has no overload name '{overload}': "
                f"the table has {', '.join(self.overloads())}"
            )
        full_name = self.__name__ if overload == "default" else f"{self.__name__}.{overload}"
        return overload_named(full_name)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


def _written(base: str) -> Callable[..., Any] | None:
    """The method of tensors that writes in place, if `base` is the name of one: `add_`."""
    if not base.endswith("_") or base.startswith("_"):
        return None
    method: Callable[..., Any] | None = getattr(Tensor, base, None)
    return method


@cache
def overload_named(full_name: str) -> OpOverload:
    """The op `add.Tensor`, one object however often it is asked for."""
    return OpOverload(full_name)


@cache
def packet_named(base: str) -> OpOverloadPacket:
    """The ops `add`; LookupError if the table has none."""
    return OpOverloadPacket(base)


class _Aten:
    """The names of the table as attributes."""

    __name__ = "aten"

    def __getattr__(self, base: str) -> OpOverloadPacket:
        try:
            if base.startswith("__"):
                raise LookupError("no op has such a name")
            return packet_named(base)
        except LookupError as error:
            raise AttributeError(f"'ops.aten' has no attribute {base!r}: {error}") from None


aten = _Aten()
