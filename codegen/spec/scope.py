"""Check the names and calls of formulas: arguments, outputs, gradients, ops of the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..diagnostics import Report, did_you_mean
from ..ir.nodes import Assign, Attribute, Call, Name, TextSpan
from ..ir.walk import assigned_names, calls, free_uses, walk
from ..ir.walk import names as names_read
from .entry import Entry
from .kinds import Kind, Kinds, kind_misfit, kind_of_type, kinds_of_params, misuses
from .model import REQUIRED, Constant, Formula, NonDifferentiable, OpSpec, Param, Signature
from .own_kernels import OwnKernels
from .primitives import kernel, kernel_modules, primitives
from .vocabulary import CONSTANTS, HELPERS


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that one formula of an entry may use."""

    role: str
    """`forward`, `composite`, `batch`, `condition`, `VJP` or `JVP`."""
    names: frozenset[str]
    differentiated: frozenset[str] = frozenset()
    """The arguments whose gradient is computed: where it is asked for, they are given."""


class Functions:
    """The functions that formulas may call, by name."""

    def __init__(
        self,
        ops: Iterable[OpSpec],
        unreadable: Iterable[str],
        kernels: OwnKernels | None = None,
    ) -> None:
        self.kernels = kernels
        self._signatures: dict[str, list[Signature]] = {}
        for op in ops:
            for name in (op.signature.name, *op.aliases):
                self._signatures.setdefault(name, []).append(op.signature)
        # An op whose own signature is broken is no reason to refuse those that call it.
        self._unreadable = frozenset(unreadable)

    def __contains__(self, name: str) -> bool:
        return name in self._signatures or name in HELPERS or name in self._unreadable

    def names(self) -> list[str]:
        """Every name that may be called."""
        return [*self._signatures, *HELPERS]

    def overloads(self, name: str) -> list[Signature]:
        """The signatures a call is checked against; none if the op's own is broken."""
        return [] if name in self._unreadable else self._signatures.get(name, [])


def check_formulas(entry: Entry, functions: Functions, report: Report) -> None:
    """Report every unknown name and function, and every call that fits no overload."""
    _check_gradient_names(entry.op, report)
    named = _kinds_of_names(entry.op)
    optional = _optional_names(entry.op)
    for formula, scope in _formulas(entry.op):
        _check_names(formula, scope, functions, report)
        _check_assignments(formula, scope, report)
        names = {n: kind for n, kind in named.items() if n in scope.names}
        kinds = Kinds(names, formula.block, functions.overloads)
        for found in misuses(formula.block, kinds, optional - scope.differentiated):
            report.error(found.code, formula.locate(found.span), found.message, found.help)
        _check_strides(formula, entry.op, report)
        for call in calls(formula.block):
            _check_call(call, formula, scope, functions, kinds, report)


def _check_strides(formula: Formula, op: OpSpec, report: Report) -> None:
    """Report strides of what a formula computes or is given by the graph, which is a tensor."""
    given = {param.name for param in op.signature.tensor_params}
    for node in walk(formula.block):
        match node:
            case Attribute(Name(name), "strides") if name in given:
                continue
            case Attribute(_, "strides"):
                help = "arguments are arrays: of these `.strides` can be asked"
                message = "only arguments have `.strides`"
                report.error("GS036", formula.locate(node.span), message, help)


def _optional_names(op: OpSpec) -> set[str]:
    """The arguments that may be None, for all that `requires` says."""
    required = {name.id for each in op.requires for name in names_read(each.formula.block)}
    return {p.name for p in op.signature.params if p.type.is_optional} - required


def _kinds_of_names(op: OpSpec) -> dict[str, Kind]:
    """The kinds of all that a formula may be given."""
    found = kinds_of_params(op.signature)
    for param in op.signature.params:
        if param.type.base == "Tensor":
            found |= {f"{param.name}_{suffix}": found[param.name] for suffix in "pt"}
    for output in op.signature.outputs:
        if (kind := kind_of_type(output.type)) is not None:
            names = (output.name, f"grad_{output.name}", "grads" if output.type.is_list else "grad")
            found = dict.fromkeys(names, kind) | found
    return found


def _check_gradient_names(op: OpSpec, report: Report) -> None:
    """Report an argument or output that has the name of another output's gradient."""
    named = {param.name for param in op.signature.params}
    named |= {output.name for output in op.signature.outputs}
    for name in gradient_names(op):
        if name in named and any(isinstance(rule, Formula) for _, rule in op.vjps):
            message = f"`{name}` is a name of the signature, and a gradient in its VJPs"
            report.error("GS037", op.span, message, "take another name")


def gradient_names(op: OpSpec) -> tuple[str, ...]:
    """The names of the outputs' gradients in a VJP.

    `grad` if one output is differentiable (`grads` too if it is a list), `grad_<output>` if
    several are.
    """
    outputs = op.differentiable_outputs
    if len(outputs) == 1:
        return ("grad", "grads") if outputs[0].type.is_list else ("grad",)
    return tuple(f"grad_{output.name}" for output in outputs)


def _formulas(op: OpSpec) -> Iterator[tuple[Formula, Scope]]:
    params = {param.name for param in op.signature.params}
    outputs = {output.name for output in op.signature.outputs}
    for role, definition in (
        ("forward", op.forward),
        ("forward", op.kernel),
        ("composite", op.composite),
        ("batch", op.batch),
    ):
        if definition is not None:
            yield definition, Scope(role, frozenset(params))
    for condition, _ in (*op.unproved, *op.accuracy):
        yield condition, Scope("condition", frozenset(params))
    in_vjp = frozenset({*params, *outputs, *gradient_names(op)})
    for names, rule in op.vjps:
        if isinstance(rule, Formula):
            yield rule, Scope("VJP", in_vjp, frozenset(names))
    differentiable = [
        param.name
        for param in op.signature.tensor_params
        if not isinstance(op.rule(param.name), NonDifferentiable | Constant)
    ]
    tangents = {f"{name}_{suffix}" for name in differentiable for suffix in "pt"}
    jvp = Scope("JVP", frozenset({*params, *outputs, *tangents}))
    for _, tangent_rule in op.jvps:
        if isinstance(tangent_rule, Formula):
            yield tangent_rule, jvp


def _check_names(formula: Formula, scope: Scope, functions: Functions, report: Report) -> None:
    known = {*scope.names, *CONSTANTS}
    local = assigned_names(formula.block)
    told: set[str] = set()
    for name in free_uses(formula.block):
        if name.id in known or name.id in told:
            continue
        told.add(name.id)
        if name.id in local:
            message = f"`{name.id}` has no value here on some path"
            help = "assign it in every branch"
        else:
            message = f"`{name.id}` is no name that a {scope.role} formula knows"
            help = _name_help(name.id, scope, functions, known | local)
        report.error("GS034", formula.locate(name.span), message, help)


def _name_help(name: str, scope: Scope, functions: Functions, known: set[str]) -> str:
    if scope.role == "JVP" and name.startswith("auto"):
        return "write `auto`, `auto_element_wise`, `auto_linear` or the formula"
    if scope.role == "VJP" and name in ("grad", "grads"):
        grads = sorted(known_name for known_name in known if known_name.startswith("grad"))
        return f"here it is {', '.join(grads)}" if grads else "no output is differentiable"
    if scope.role == "JVP" and name.startswith("grad"):
        return "a JVP knows tangents: `self_t`"
    if close := did_you_mean(name, known):
        return close
    if name in functions:
        return f"`{name}` is a function: call it"
    return f"it knows {', '.join(sorted(scope.names))}"


def _check_assignments(formula: Formula, scope: Scope, report: Report) -> None:
    for node in walk(formula.block):
        if not isinstance(node, Assign):
            continue
        for target in node.targets:
            if target in scope.names or target in CONSTANTS:
                message = f"the assignment hides `{target}`"
                place = TextSpan(node.span.start, node.span.start + len(target))
                report.error("GS037", formula.locate(place), message, "take another name")


def _check_call(
    call: Call, formula: Formula, scope: Scope, functions: Functions, kinds: Kinds, report: Report
) -> None:
    name = _place_of_name(call, formula)
    if "." in call.function:
        if scope.role != "forward" or not _is_own_kernel(call, functions.kernels):
            _check_primitive(call, name, formula, scope, report)
        elif call.function in kernel_modules():
            message = f"`{call.function}` is one of yours, and one of gradspec's own"
            report.error("GS050", formula.locate(name), message, "rename yours")
        return
    if call.function not in functions:
        message = f"no op of the table is called `{call.function}`"
        report.error("GS035", formula.locate(name), message, _instead(call.function, functions))
        return
    if call.function in HELPERS and not functions.overloads(call.function):
        if len(call.args) != 1 or call.kwargs:
            message = f"`{call.function}` takes one argument"
            report.error("GS036", formula.locate(call.span), message)
        return
    overloads = functions.overloads(call.function)
    misfits = [_misfit(call, s) or kind_misfit(call, s, kinds) for s in overloads]
    if misfits and all(misfits):
        message = misfits[0] if len(misfits) == 1 else f"no overload of `{call.function}` fits"
        forms = " or ".join(f"`{_form(signature)}`" for signature in overloads)
        report.error("GS036", formula.locate(call.span), str(message), f"it is {forms}")


def _place_of_name(call: Call, formula: Formula) -> TextSpan:
    """The name of a function; the whole call where that is a method or an attribute."""
    start = call.span.start
    is_in_front = formula.text.startswith(call.function, start)
    return TextSpan(start, start + len(call.function)) if is_in_front else call.span


_WRITTEN_OTHERWISE = {"to": "write `_to_copy(x, dtype='int64')`"}
"""In the place of members that are no ops."""


def _instead(function: str, functions: Functions) -> str:
    """Suggest a replacement for an unknown function: its name in a namespace, or a similar one."""
    known = functions.names()
    for space in ("linalg", "special", "fft"):
        if (name := f"{space}_{function}") in known:
            return f"did you mean `{name}`?"
    return _WRITTEN_OTHERWISE.get(function) or did_you_mean(function, known)


def _is_own_kernel(call: Call, kernels: OwnKernels | None) -> bool:
    root, _, name = call.function.partition(".")
    return kernels is not None and root == "kernels" and name in kernels.names


def _check_primitive(
    call: Call, place: TextSpan, formula: Formula, scope: Scope, report: Report
) -> None:
    """Report a primitive that may not be called, here or at all, or not in this way."""
    function = call.function
    if scope.role != "forward":
        message = f"`{function}` in a {scope.role} formula"
        help = "primitives stand in `forward` only; formulas call ops, to be differentiable again"
        report.error("GS038", formula.locate(place), message, help)
    elif function not in primitives() and function not in kernel_modules():
        close = did_you_mean(function, [*primitives(), *kernel_modules()])
        message = (
            f"there is no kernel `{function.removeprefix('kernels.')}`"
            if function.startswith("kernels.")
            else f"`{function}` is no primitive that proofs have an exact model of"
        )
        report.error("GS035", formula.locate(place), message, close or _PRIMITIVE_HELP)
    else:
        primitive = primitives().get(function) or kernel(function)
        if primitive is not None and (misfit := primitive.misfit(call)):
            help = f"it is `{function}({', '.join(primitive.named or primitive.positional)})`"
            report.error("GS036", formula.locate(call.span), misfit, help)


_PRIMITIVE_HELP = (
    "specs/primitives.yaml lists those of `np` and `sp`; kernels are the runtime's, and those of "
    "your own come from --kernels FILE"
)


def _misfit(call: Call, signature: Signature) -> str:
    """Say why a call does not fit a signature; empty if it does."""
    positional = [param for param in signature.params if not param.keyword_only]
    if len(call.args) > len(positional):
        return (
            f"`{call.function}` takes {len(positional)} by position, but is given {len(call.args)}"
        )
    given = {param.name for param in positional[: len(call.args)]}
    names = {param.name for param in signature.params}
    for name, _ in call.kwargs:
        if name not in names:
            return f"`{call.function}` has no argument `{name}`"
        if name in given:
            return f"`{call.function}` gets `{name}` twice"
        given.add(name)
    for param in signature.params:
        if param.default is REQUIRED and param.name not in given:
            return f"`{call.function}` needs `{param.name}`"
    return ""


def _form(signature: Signature) -> str:
    """Spell a call of a signature: `sum(self, dim, keepdim=False, *, dtype=None)`."""
    parts: list[str] = []
    for param in signature.params:
        if param.keyword_only and "*" not in parts:
            parts.append("*")
        parts.append(_param_form(param))
    return f"{signature.name}({', '.join(parts)})"


def _param_form(param: Param) -> str:
    return param.name if param.default is REQUIRED else f"{param.name}={param.default!r}"
