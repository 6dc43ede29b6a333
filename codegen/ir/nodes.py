"""The tree of a parsed formula: frozen dataclasses, compared by structure.

Every reading (NumPy source, Tensor source, sympy, LaTeX) is a function of these nodes. A node
remembers where it stands in its formula's text (`span`), so that a mistake found late can still be
shown under a caret; the span takes no part in comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Half-open range of characters `[start, end)` of a formula's text."""

    start: int
    end: int


NOWHERE = TextSpan(0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    span: TextSpan = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An argument, an output, `grad`, or a local of a block."""

    id: str


@dataclass(frozen=True, slots=True)
class Const(Node):
    """A literal: a number, True, False, None or a string."""

    value: int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`op` is one of `-`, `~`, `not`."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`op` is one of `+ - * / // % ** @ & | ^`."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`op` is one of `< <= > >= == !=`, `is`, `is not`, `in`, `not in`; chains are not allowed."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """`and` / `or` over two or more operands; never of tensors."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A call of an op of the table, or of a primitive (`np.sin`, `sp.erf`, `kernels.softmax`).

    `function` is the dotted name as written.
    """

    function: str
    args: tuple[Expr, ...]
    kwargs: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """`x.shape`, `x.ndim`, `x.dtype`, `x.strides` or `x.meta`; there is no other attribute."""

    value: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`start:stop:step` inside a subscript."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """`shape[0]`, `grads[1]`, `self.shape[:-1]`; of tuples and lists, never of tensors."""

    value: Expr
    index: Expr | Slice


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`then if test else otherwise`; `test` is never a tensor."""

    test: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """A tuple or list display; `starred` items (`*shape`) are `Star`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Star(Node):
    """`*value` inside a sequence display."""

    value: Expr


Expr: TypeAlias = (
    Name
    | Const
    | Unary
    | Binary
    | Compare
    | Logic
    | Call
    | Attribute
    | Subscript
    | Conditional
    | Sequence
    | Star
)


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`name = value`; a tuple target unpacks (`a, b = value`)."""

    targets: tuple[str, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class If(Node):
    test: Expr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...]


@dataclass(frozen=True, slots=True)
class Return(Node):
    value: Expr


Stmt: TypeAlias = Assign | If | Return


@dataclass(frozen=True, slots=True)
class Block(Node):
    """A whole formula; a one-line formula is a block of one `Return`."""

    statements: tuple[Stmt, ...]

    @property
    def expression(self) -> Expr | None:
        """The expression of a one-line formula, None of a longer block."""
        first = self.statements[0]
        return first.value if len(self.statements) == 1 and isinstance(first, Return) else None


def number(value: int) -> Expr:
    """A whole number as a formula writes it: with a minus in front where it is negative."""
    return Unary("-", Const(-value)) if value < 0 else Const(value)


def whole_number(expr: Expr | Slice) -> int | None:
    """The whole number that an expression is; None if it is none."""
    match expr:
        case Const(int(value)) if not isinstance(value, bool):
            return value
        case Unary("-", Const(int(value))) if not isinstance(value, bool):
            return -value
    return None
