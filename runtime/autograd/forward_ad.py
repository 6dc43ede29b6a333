"""The public functions of forward mode: `dual_level`, `make_dual`, `unpack_dual`."""

from __future__ import annotations

from typing import Any

from ..batching.exposed import batches_of, expose, hide
from ..core.missing import no_attribute as _no_attribute
from ..core.mode_decorator import ModeDecorator
from ..core.tensor import Tensor
from ..dispatch.named_results import Result
from ..dtypes.kinds import DIFFERENTIABLE_KINDS
from ..forward_ad.dual import (
    Level,
    current_level,
    enter_level,
    exit_level,
    split,
    with_tangent,
    without_closed_levels,
)
from ..forward_ad.tangent_layout import lying_as


class UnpackedDualTensor(Result):
    """Primal and tangent of a dual tensor; `tangent` is None for any other tensor."""

    __slots__ = ()
    primal: Tensor
    tangent: Tensor | None


class dual_level(ModeDecorator):
    """Level of forward mode: tensors can carry tangents inside the block. Levels may be nested.

    Also a decorator: every call of the function has a level of its own.
    """

    def __init__(self) -> None:
        self._entered: list[Level] = []

    def __enter__(self) -> int:
        self._entered.append(enter_level())
        return self._entered[-1].depth

    def __exit__(self, *_: object) -> None:
        exit_level(self._entered.pop())

    def clone(self) -> dual_level:
        """Make another level, not entered."""
        return dual_level()


def enter_dual_level() -> int:
    """Open a level without a block; `exit_dual_level` closes it."""
    return enter_level().depth


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level; RuntimeError if there is none, or if `level` is another."""
    innermost = current_level()
    if innermost is None:
        raise RuntimeError("Trying to exit a forward AD level but no level exists.")
    if level is not None and level != innermost.depth:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created: "
            f"{level}, where that is {innermost.depth}"
        )
    exit_level(innermost)


def make_dual(tensor: Tensor, tangent: Tensor) -> Tensor:
    """Make a tensor with the value of `tensor` that carries `tangent` through ops.

    Both are shared, and written to by in-place ops on the dual; a tangent that does not lie in
    memory as `tensor` does is copied. Raises RuntimeError outside of a level, where the shapes
    differ, or where `tensor` has a tangent already; ValueError for a dtype without derivatives.
    """
    level = current_level()
    if level is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists: "
            "do it inside `with dual_level():`"
        )
    for role, value in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(value, Tensor):
            raise TypeError(f"make_dual(): {role} must be a Tensor, not {type(value).__name__}")
        if value.dtype.kind not in DIFFERENTIABLE_KINDS:
            raise ValueError(
                f"Expected {role} to be floating point or complex, but got: {value.dtype}"
            )
    if tensor.array.shape != tangent.array.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the "
            f"original Tensor: {list(tangent.shape)} for {list(tensor.shape)}"
        )
    batches = batches_of(tensor, tangent)
    if batches:
        return hide(make_dual(expose(tensor, batches), expose(tangent, batches)), batches)
    tangent = without_closed_levels(tangent)
    if split(tangent, level)[1] is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level "
            f"{level.depth} is not supported: unpack_dual() the tangent first"
        )
    primal = without_closed_levels(tensor)
    if split(primal, level)[1] is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            f"same level {level.depth} is not supported: unpack_dual() it first"
        )
    return with_tangent(primal, lying_as(tangent, primal), level)


def unpack_dual(tensor: Tensor) -> UnpackedDualTensor:
    """Return primal and tangent at the innermost level; no tangent outside of a level.

    Inside of one the primal is a new view, so that writing to it leaves the tangent as it is.
    """
    level = current_level()
    if batches := batches_of(tensor):
        parts = unpack_dual(expose(tensor, batches))
        slope = None if parts.tangent is None else hide(parts.tangent, batches)
        return UnpackedDualTensor(hide(parts.primal, batches), slope)
    tensor = without_closed_levels(tensor)
    if level is None:
        return UnpackedDualTensor(tensor, None)
    primal, tangent = split(tensor, level)
    return UnpackedDualTensor(primal.view_as(primal), tangent)


_NAME = __name__


def __getattr__(name: str) -> Any:
    # A number that changes: PyTorch's module has it under this name, -1 outside of any level.
    if name == "_current_level":
        innermost = current_level()
        return -1 if innermost is None else innermost.depth
    raise _no_attribute(_NAME, name)


__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
