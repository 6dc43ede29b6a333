"""What the templates see: plain values and lines of code, all decided here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["", "in_place", "variadic"]


@dataclass(frozen=True, slots=True)
class NodeView:
    """One `XxxBackward0` class."""

    name: str
    op: str
    slots: tuple[str, ...]
    release: str
    """The line that lets go of saved arrays and tensors; empty if there are none."""
    is_pointwise: bool
    """Whether its gradients treat every element by itself."""
    has_several_outputs: bool
    output_nrs: tuple[tuple[str, int | None], ...]
    """The slots that keep outputs, and which, where that is not plain."""
    apply: tuple[str, ...]
    """The body of `apply`, on arrays."""
    apply_differentiable: tuple[str, ...]
    """The body of `apply_differentiable`, on tensors."""


@dataclass(frozen=True, slots=True)
class RecordView:
    """How a function leaves its node behind."""

    refuses: str
    """The test for complex arguments of an op whose formulas do not hold for them."""
    any_edge: str
    """The condition under which an input asks for a gradient."""
    edges: str
    saves: tuple[str, ...]
    attach: str
    """The line that gives the output(s) their vertex."""


@dataclass(frozen=True, slots=True)
class FunctionView:
    """The public function of one op."""

    name: str
    public: str
    """What users call it: no overload, no leading underscore."""
    op: str
    signature: str
    returns: str
    doc: str
    guard: str
    """True where an argument is not a plain tensor; empty for a composite."""
    lifts: tuple[str, ...]
    """The two promoted arguments, of which the second may be a plain number."""
    forwarded: str
    """The arguments, as `dispatch` is handed them."""
    prepare: tuple[str, ...]
    """Arrays out of tensors, brought to one dtype."""
    compute: tuple[str, ...]
    """The forward."""
    described: str
    """The tensors that an error message describes."""
    wrap: tuple[str, ...]
    """Output tensors around the arrays."""
    result: str
    record: RecordView | None
    node: NodeView | None
    composite: tuple[str, ...]
    """The whole body of a composite."""


@dataclass(frozen=True, slots=True)
class ArrayFunctionView:
    """The definition of an op as a function on arrays, for formulas that call it."""

    name: str
    op: str
    parameters: str
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JvpView:
    """The forward-mode rule of one op."""

    name: str
    op: str
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultTypeView:
    """The named tuple of an op with several named outputs."""

    name: str
    op: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpView:
    """All code of one entry, in the order in which it is written."""

    result_type: ResultTypeView | None
    array_function: ArrayFunctionView | None
    function: FunctionView
    jvp: JvpView | None


@dataclass(frozen=True, slots=True)
class RegistrationView:
    """What the runtime is told of one op."""

    op: str
    function: str
    signature: str
    promotes: tuple[str, ...]
    jvp: str
    differentiable: bool


@dataclass(frozen=True, slots=True)
class ModuleView:
    """One `<family>.py`."""

    family: str
    imports: tuple[str, ...]
    siblings: tuple[tuple[str, str], ...]
    """`(module, name)` of other generated modules that formulas call."""
    constants: tuple[tuple[str, str], ...]
    overloaded: tuple[tuple[str, tuple[str, ...]], ...]
    """`(base name, functions)` of the names that several ops share."""
    registrations: tuple[RegistrationView, ...]


@dataclass(frozen=True, slots=True)
class NameView:
    """A public name of a namespace, or a method."""

    name: str
    module: str
    function: str
    form: Form = ""
    """What the method is made of the function: writing back, or with a list that may be spread."""
    overrides_object: bool = False
    """`__eq__` answers a tensor, which type checkers must not be told."""
