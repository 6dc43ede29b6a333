"""Operations that steps are lowered to: parts of loop nests, or calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..program import Loop, Step, Value
from .layout import Access, Dims, root_of
from .scalars import DType


@dataclass(eq=False)
class Operand:
    """An argument of an operation: elements of memory, or a number in C."""

    access: Access | None
    dtype: DType
    """The dtype in memory."""
    loop_dtype: DType
    """The dtype to which an element is cast before it is used."""
    text: str = ""
    """A number as it stands in C, if there is no access."""


@dataclass(eq=False)
class Operation:
    """A step, or a part of it, and what it reads and makes."""

    step: Step
    out: Value

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        raise NotImplementedError

    @property
    def outs(self) -> tuple[Value, ...]:
        """The values that are made."""
        return (self.out,)


@dataclass(eq=False)
class Map(Operation):
    """An element of the result for each point, of the elements of the operands at that point."""

    dims: Dims
    operands: list[Operand]
    formula: str
    """C, with `{0}`, `{1}`, … for the operands."""
    dtype: DType
    """The dtype of what the formula computes, which is then cast to that of the result."""
    target: Access
    """Target of the result: all of `out`, or a region of it."""
    is_region: bool = False

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        return tuple(each.access.root for each in self.operands if each.access)


@dataclass(eq=False)
class Reduce(Operation):
    """The elements of the operand along some dimensions, made one by a function of two."""

    dims: Dims
    reduced: tuple[bool, ...]
    operand: Operand
    function: str
    target: Access
    """On `dims`, with stride 0 along those that are reduced."""

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        return (self.operand.access.root,) if self.operand.access else ()


@dataclass(eq=False)
class Call(Operation):
    """Lines of C that compute all of the result, of whole operands."""

    operands: tuple[Value, ...]
    lines: list[str]
    """With `{0}`, `{1}`, … for pointers to the first elements of operands, `{out}` for that of the
    result."""
    work: float = 0
    """About how many operations of floating point they are."""
    product: float = 0
    """Multiplications of each call of BLAS in them; 0 if there is none."""
    columns: int = 0
    """Columns, or rows, of a call of BLAS, which threads share if it is large."""
    is_factor: bool = False
    """True for a call of LAPACK, of which threads of the program do nothing."""
    rounds: int = 0
    """The number of times that the lines are run, for each `i`; 0 for once, without an `i`."""
    is_shared: bool = False
    """True if threads share the rounds."""
    matrices: tuple[Value, Value, Value] | None = None
    """Both factors and the result of a product, as it sees them."""

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        return tuple(map(root_of, self.operands))


@dataclass(eq=False)
class PythonCall(Operation):
    """A step that calls its function."""

    outputs: tuple[Value, ...] = ()
    inputs: tuple[Value, ...] = field(default_factory=tuple)
    obstacle: Value | None = None
    """An argument or a result that C cannot have, if it is that."""

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        return tuple(map(root_of, self.inputs))

    @property
    def outs(self) -> tuple[Value, ...]:
        """The values that are made."""
        return self.outputs


@dataclass(eq=False)
class LoopCall(Operation):
    """A loop whose body has C."""

    loop: Loop
    unit: Any
    """Its body, a `Unit`."""
    inputs: tuple[Value, ...]
    """Parameters of the loop, in order, then constants of its body."""
    outputs: tuple[Value, ...]
    room: Value
    """Memory for the body's own values, and a second place for each state."""
    spares: list[int]
    """Positions of these in it."""

    @property
    def reads(self) -> tuple[Value, ...]:
        """The values whose memory is read."""
        return tuple(map(root_of, self.inputs))

    @property
    def outs(self) -> tuple[Value, ...]:
        """The values that are made."""
        return (*self.outputs, self.room)
