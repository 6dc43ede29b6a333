"""The frozen description of one op, as every later stage reads it.

Nothing here knows YAML, Jinja or sympy: `load` makes these values, the renderers, the prover and
the emitter read them.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

from ..diagnostics import Span
from ..ir.nodes import Block, Expr, TextSpan


class _Required(Enum):
    """One object in every process: workers are sent entries."""

    REQUIRED = "REQUIRED"

    def __repr__(self) -> str:
        return self.value


REQUIRED = _Required.REQUIRED
"""The default of a parameter that has none."""


@dataclass(frozen=True, slots=True)
class Type:
    """An ATen type: `Tensor`, `Tensor?`, `Tensor[]`, `Scalar`, `int`, `int[2]`, `int[]?` ...

    `alias` is the letter of `Tensor(a)`: an output that carries the letter of an input is a view
    of it; `a!` of `Tensor(a!)`: the op writes to it.
    """

    base: str
    is_list: bool = False
    size: int | None = None
    is_optional: bool = False
    alias: str | None = None
    has_optional_items: bool = False
    """`Tensor?[]`: any of the list may be absent (`is_optional` means that the list may be)."""

    @property
    def is_tensor(self) -> bool:
        """One tensor, perhaps an absent one."""
        return self.base == "Tensor" and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        return self.base == "Tensor" and self.is_list


def spelled(param: str) -> str:
    """Return a parameter's name in Python: PyTorch's functions say `input` for `self`.

    One that would hide a word of the formula language has an underscore in the table: `nan_`.
    """
    plain = param.removesuffix("_")
    if param == "self":
        return "input"
    is_free = plain and plain != "self" and not keyword.iskeyword(plain)
    return plain if is_free else param


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: Type
    default: Any = REQUIRED
    keyword_only: bool = False
    written: str = ""
    """The name in the spec, where generated code has another use for it."""

    @property
    def public(self) -> str:
        """The name that users know."""
        return spelled(self.written or self.name)


@dataclass(frozen=True, slots=True)
class Output:
    name: str
    type: Type
    written: str = ""
    """Dtypes of an output, as for a parameter."""


@dataclass(frozen=True)
class Signature:
    """`name.overload(params) -> outputs`; an unnamed single output is called `result`,
    several unnamed ones `result0`, `result1`, ..."""

    name: str
    overload: str
    params: tuple[Param, ...]
    outputs: tuple[Output, ...]

    @property
    def named(self) -> tuple[Param | Output, ...]:
        """All that has a name in formulas: the arguments, then the outputs."""
        return (*self.params, *self.outputs)

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @cached_property
    def tensor_params(self) -> tuple[Param, ...]:
        return tuple(p for p in self.params if p.type.base == "Tensor")

    @property
    def view_of(self) -> str | None:
        """The input that the (first) output is a view of, if it is one."""
        letter = self.outputs[0].type.alias
        if letter is None:
            return None
        return next((p.name for p in self.params if p.type.alias == letter), None)


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula, its text as written, and the way from a place in it to the file."""

    text: str
    block: Block
    spans: Sequence[Span]
    """`spans[i]` is where character `i` of `text` stands in the file (one more at the end)."""
    is_derived: bool = False
    """True if the generator derived it: it may have conditions of the rules of other ops."""

    def locate(self, place: TextSpan) -> Span:
        """Find `place` of the text in the file."""
        first = self.spans[min(place.start, len(self.spans) - 1)]
        last = self.spans[min(max(place.end, place.start + 1) - 1, len(self.spans) - 1)]
        width = last.column - first.column + 1 if last.line == first.line else 1
        return Span(first.path, first.line, first.column, max(1, width))


@dataclass(frozen=True, slots=True)
class Auto:
    """`auto`, or no rule at all: the generator derives it from the definition."""

    span: Span
    is_given: bool = True
    """False if the entry has no rule there."""


@dataclass(frozen=True, slots=True)
class AutoLinear:
    """`result: auto_linear`: the JVP is the op applied to the tangents."""

    span: Span


@dataclass(frozen=True, slots=True)
class AutoElementwise:
    """`result: auto_element_wise`: the JVP is the VJP with the tangent for `grad`."""

    span: Span


@dataclass(frozen=True, slots=True)
class NonDifferentiable:
    """`non_differentiable`: no gradient exists for this argument."""

    span: Span
    is_derived: bool = False
    """True if the generator found that it is zero: for real numbers, as of `angle`."""


@dataclass(frozen=True, slots=True)
class NotImplementedYet:
    """`not_implemented: reason`: asking for this gradient raises, and says why."""

    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """`constant: reason`: an argument that requires grad is refused at the call."""

    reason: str
    span: Span


Rule: TypeAlias = Formula | Auto | NonDifferentiable | NotImplementedYet | Constant
TangentRule: TypeAlias = Formula | Auto | AutoLinear | AutoElementwise | NotImplementedYet


@dataclass(frozen=True, slots=True)
class Example:
    """One call to prove, test and document an op with.

    `args` maps a parameter to what the spec gives: a shape for a tensor (`[2, 3]`), literal
    data (`{int: [[0, 2]]}`, `{bool: [true]}`, `{float: [1.5]}`), a list of either for
    `Tensor[]`, and the value itself for everything else.
    """

    args: tuple[tuple[str, Any], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Requirement:
    """A condition on the structure and the plain values of the arguments of every call."""

    formula: Formula
    """The condition as written: a single expression."""
    test: Expr
    """The same, which is false where the condition has no value."""
    reason: str = ""
    """The text of the error; empty if the condition speaks for itself."""


@dataclass(frozen=True, slots=True)
class TargetKernel:
    """A function of a module of the user's that computes an op in a framework."""

    framework: str
    function: str
    """With its module: `my_kernels.softcap`."""
    span: Span


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One entry of the table."""

    signature: Signature
    family: str
    span: Span
    doc: str
    forward: Formula | None = None
    """The definition on arrays; None for a composite."""
    kernel: Formula | None = None
    """The call that computes `forward` on arrays, proved equal to it; None if `forward` does."""
    composite: Formula | None = None
    """The definition by calls of other ops of the table; such an op has no node of its own."""
    batch: Formula | None = None
    """The same function by ops that have batching rules; None where a rule is to be found."""
    vjps: tuple[tuple[tuple[str, ...], Rule], ...] = ()
    """`(argument names, rule)`; several names share one formula that returns a tuple."""
    jvps: tuple[tuple[str, TangentRule], ...] = ()
    """`(output name, rule)`."""
    promotes: tuple[str, ...] = ()
    """The tensor arguments that are brought to one dtype first, by PyTorch's promotion rules."""
    same_dtype: tuple[str, ...] = ()
    """Those among them that must have one dtype already: PyTorch does not mix these."""
    no_bools: bool = False
    """Bools are refused."""
    inplace: bool = False
    """The op has an in-place variant, `mul_` to `mul`, which is made from it."""
    takes_out: bool = False
    """The function takes `out`, the tensor that the result is written to."""
    int_to_float: bool = False
    """Integer and bool arguments are computed in the default float dtype."""
    complex: bool = False
    """The formulas hold for complex tensors too; otherwise these have no gradient, and say so."""
    real_only: str = ""
    """Complex tensors are refused, as there is no such function of them, or no order."""
    layout: tuple[str, ...] = ()
    """The order in memory of the outputs, one word for each, or for all of them: `rows`, or the
    tensor argument in whose order they lie. Empty for what the formula gives."""
    requires: tuple[Requirement, ...] = ()
    """The calls that the op is meant for; all others are refused before anything is computed."""
    domain: tuple[tuple[str, str], ...] = ()
    """`(argument, condition)`: where the op is defined and differentiable."""
    output_differentiability: tuple[bool, ...] = ()
    """One flag an output; empty means that every tensor among them is differentiable."""
    changing_outputs: tuple[str, ...] = ()
    """Outputs without a gradient that change with the arguments: the table says why."""
    kinks: tuple[tuple[str, Any], ...] = ()
    """`(condition, factor of grad there)` for the breakpoints of a piecewise forward."""
    custom_op: bool = False
    """True if PyTorch is to take the op for a whole, registered with `torch.library`."""
    target_kernels: tuple[TargetKernel, ...] = ()
    """Functions that compute the op in frameworks, where the entry names them."""
    unproved: tuple[tuple[Formula, str], ...] = ()
    """`(condition, reason)` for calls at which the gradients are not the derivatives."""
    accuracy: tuple[tuple[Formula, str], ...] = ()
    """`(condition, reason)` for points at which digits may be lost."""
    examples: tuple[Example, ...] = ()
    variants: tuple[str, ...] = ("function",)
    """`function`, `method`."""
    python_module: str = ""
    """`nn`, `linalg`, `special` ...: the namespace of the function; empty for the top level."""
    operators: tuple[str, ...] = ()
    """Python operators on `Tensor` that this op answers, e.g. `__mul__`."""
    aliases: tuple[str, ...] = ()
    helpers: tuple[OpSpec, ...] = ()
    """The ops that its formulas call as parts of them, directly or through each other: private
    ones, and in a spec of one's own all of it."""
    is_pointwise: bool = False
    """Every element is computed from those at its place alone, by rules as well (`elementwise`)."""
    copy_doc: str = ""
    """Name of the op that copies the elements of this view, `permute_copy`; empty for none."""
    node: str = ""
    """The name of the node, where PyTorch's does not follow from the op's."""
    proof: str = "symbolic"
    """`symbolic`; `certified` or `numeric`, with the reason in `proof_reason`."""
    proof_reason: str = ""

    @property
    def name(self) -> str:
        return self.signature.full_name

    @property
    def definition(self) -> Formula | None:
        """The formula that says what the op computes; None of an entry with mistakes."""
        return self.forward or self.composite

    @property
    def implementation(self) -> Formula | None:
        """The formula that generated code runs on arrays."""
        return self.kernel or self.forward

    @property
    def summary(self) -> str:
        """The `doc` of the entry; the name of the op if there is none."""
        return self.doc or f"The op `{self.name}`."

    @property
    def is_private(self) -> bool:
        """Called by formulas only."""
        return self.signature.name.startswith("_")

    @property
    def is_called_by_formulas(self) -> bool:
        """Return whether the op is no public one, or one by which a gradient is computed.

        Such a one is named so, and takes the gradient first: `select_backward(grad_output, ...)`.
        """
        first = next(iter(self.signature.params), None)
        takes_gradient = first is not None and first.name == "grad_output"
        return self.is_private or (takes_gradient and self.signature.name.endswith("_backward"))

    @property
    def differentiable_params(self) -> tuple[str, ...]:
        """Arguments with a formula, in the order of the signature."""
        with_formula = {
            name for names, rule in self.vjps if isinstance(rule, Formula | Auto) for name in names
        }
        return tuple(p.name for p in self.signature.params if p.name in with_formula)

    @property
    def recorded_params(self) -> tuple[str, ...]:
        """Arguments that gradients may be asked of: with a formula, or without one so far."""
        rules = Formula | Auto | NotImplementedYet
        return tuple(
            p.name for p in self.signature.tensor_params if isinstance(self.rule(p.name), rules)
        )

    @property
    def flat_params(self) -> tuple[str, ...]:
        """Arguments whose gradient was found to be zero: of real numbers."""
        if not self.differentiable_outputs:
            return ()
        rules = {p.name: self.rule(p.name) for p in self.signature.tensor_params}
        return tuple(
            name
            for name, rule in rules.items()
            if isinstance(rule, NonDifferentiable) and rule.is_derived
        )

    @property
    def differentiable_outputs(self) -> tuple[Output, ...]:
        """The outputs that have a gradient, in order."""
        flags = self.output_differentiability or (True,) * len(self.signature.outputs)
        return tuple(
            output
            for output, flag in zip(self.signature.outputs, flags, strict=False)
            if flag and output.type.base == "Tensor"
        )

    def target_kernel(self, framework: str) -> TargetKernel | None:
        """Return the function that computes the op in a framework, if the entry names it."""
        return next((k for k in self.target_kernels if k.framework == framework), None)

    def rule(self, param: str) -> Rule | None:
        """The VJP rule of one argument."""
        return next((rule for names, rule in self.vjps if param in names), None)


@dataclass(frozen=True, slots=True)
class Table:
    """Every op of a run, in the order of the files."""

    ops: tuple[OpSpec, ...]
    _named: dict[str, OpSpec] = field(init=False, repr=False, compare=False)
    _overloads: dict[str, tuple[OpSpec, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # The first of a name: that there is but one is for the loader to check.
        object.__setattr__(self, "_named", {op.name: op for op in reversed(self.ops)})
        overloads: dict[str, tuple[OpSpec, ...]] = {}
        for op in self.ops:
            overloads[op.signature.name] = (*overloads.get(op.signature.name, ()), op)
        object.__setattr__(self, "_overloads", overloads)

    def by_name(self, name: str) -> OpSpec:
        """The op of a full name, e.g. `mul.Tensor`; KeyError if there is none."""
        return self._named[name]

    def overloads(self, name: str) -> tuple[OpSpec, ...]:
        """All ops of one base name, in order."""
        return self._overloads.get(name, ())
