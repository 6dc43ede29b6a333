"""The public function of an op: check, compute on arrays, wrap, record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..render.context import ARRAY, ModuleContext, function_name
from ..render.pointwise import is_pointwise
from ..render.resolve import kinds_of_params
from ..render.to_numpy import NumpyRenderer
from ..render.to_tensor import TensorRenderer
from ..spec.model import OpSpec, spelled
from ..spec.vocabulary import ROWS
from .branches import with_safe_branches
from .names import (
    forwarded,
    further_names,
    further_test,
    handed_on,
    python_signature,
    result_type_name,
)
from .plain_numbers import plain_numbers
from .record import complex_tests, record, reduced_params
from .requirements import refuse_unmet
from .saves import SavedFormulas
from .scopes import renamed_params
from .views import (
    ArrayFunctionView,
    BodyView,
    FunctionView,
    FurtherView,
    NodeView,
    ResultTypeView,
)


def result_type(op: OpSpec, is_own: bool) -> ResultTypeView | None:
    """The named tuple of several outputs, shown as PyTorch shows it if the op is gradspec's own."""
    outputs = op.signature.outputs
    if len(outputs) == 1 or op.composite is not None:
        return None
    names = tuple(output.written or output.name for output in outputs)
    name = result_type_name(op)
    shown = f"gradspec.return_types.{op.signature.name}" if is_own else name
    return ResultTypeView(name, op.name, names, shown)


def composite_function(op: OpSpec, context: ModuleContext) -> FunctionView:
    """A function that only calls other ops."""
    assert op.composite is not None
    spelling = {p.name: spelled(p.name) for p in op.signature.params}
    kinds = kinds_of_params(op.signature)
    formula = with_safe_branches(op.composite, kinds, (), context.resolver)
    renderer = TensorRenderer(context, formula, kinds, spelling)
    body = [
        *plain_numbers(op, context),
        *refuse_unmet(op, TensorRenderer, context, spelling, spelling),
        *renderer.statements(formula.block, "return {}"),
    ]
    return FunctionView(
        name=function_name(op, context.resolver),
        public=op.signature.name.lstrip("_"),
        op=op.name,
        signature=python_signature(op, public=True, further=_further_names(op, context)),
        body=_body(op),
        returns=_returns(op),
        doc=op.summary,
        further=_further(op, context),
        guard="",
        lifts=(),
        guard_of_lifted="",
        forwarded="",
        prepare=(),
        compute=(),
        described="",
        wrap=(),
        result="",
        record=None,
        node=None,
        composite=tuple(body),
    )


def _further_names(op: OpSpec, context: ModuleContext) -> tuple[str, ...]:
    """The further parameters; where an op has overloads, the choice of one sees to them."""
    alone = len(context.resolver.table.overloads(op.signature.name)) == 1
    return further_names(op) if alone else ()


def _further(op: OpSpec, context: ModuleContext) -> FurtherView | None:
    names = _further_names(op, context)
    if not names:
        return None
    given = [f"{p.public}={p.public}" if p.keyword_only else p.public for p in op.signature.params]
    return FurtherView(
        further_test(op, names), ", ".join([*given, *(f"{name}={name}" for name in names)])
    )


def _body(op: OpSpec) -> BodyView | None:
    """Name the inner function of an op whose public arguments have names that its code needs."""
    if not renamed_params(op):
        return None
    name = f"{op.signature.full_name.replace('.', '_')}__body"
    return BodyView(name, python_signature(op), handed_on(op.signature))


def _documented(op: OpSpec) -> str:
    """Return the docstring: what the op does, and its gradients at kinks, which are conventions."""
    if not op.kinks:
        return op.summary
    kinks = []
    for condition, factor in op.kinks:
        where = re.sub(r"\bself\b", spelled("self"), condition)
        kinks.append(f"        {factor} * grad where {where}")
    convention = "    The gradient at its kinks, by convention:"
    return "\n".join((op.summary, "", convention, *kinks, "    "))


def recorded_function(
    op: OpSpec, context: ModuleContext, node: NodeView | None, plan: SavedFormulas | None
) -> FunctionView:
    """A function that computes on arrays and leaves a node behind."""
    prepare, spelling = _prepare(op, context)
    layout = list(_layout(op))
    _note_kernels([*prepare, *layout], context)
    compute = (*_compute(op, context, spelling, plan), *layout)
    recorded = record(op, plan) if node is not None and plan is not None else None
    return FunctionView(
        name=function_name(op, context.resolver),
        public=op.signature.name.lstrip("_"),
        op=op.name,
        signature=python_signature(op, public=True, further=_further_names(op, context)),
        body=_body(op),
        returns=_returns(op),
        doc=_documented(op),
        further=_further(op, context),
        guard=_guard(op),
        lifts=tuple(lifts := _liftable(op)),
        guard_of_lifted=_guard(op, but=lifts[1]) if lifts else "",
        forwarded=forwarded(op.signature),
        prepare=(*plain_numbers(op, context), *_read_later(prepare, f"{compute}{recorded}")),
        compute=compute,
        described=", ".join(spelled(p.name) for p in op.signature.tensor_params),
        wrap=(*_wrap(op), "flags = current_mode.flags"),
        result=_result(op),
        record=recorded,
        node=node,
        composite=(),
    )


def array_function(op: OpSpec, context: ModuleContext) -> ArrayFunctionView:
    """The definition of an op, composite or not, as a function on arrays."""
    definition = op.implementation or op.composite
    assert definition is not None
    renderer = NumpyRenderer(context, definition, kinds_of_params(op.signature))
    spelling = {param.name: param.name for param in op.signature.params}
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        words.append(f"{param.name}: Any")
    return ArrayFunctionView(
        ARRAY + function_name(op, context.resolver),
        op.name,
        ", ".join(words),
        (
            *refuse_unmet(op, NumpyRenderer, context, spelling, spelling),
            *renderer.statements(definition.block, "return {}"),
        ),
    )


def needs_array_function(op: OpSpec) -> bool:
    """Return whether the forward is too long to stand in the function itself."""
    return op.implementation is not None and op.implementation.block.expression is None


def _returns(op: OpSpec) -> str:
    outputs = op.signature.outputs
    if len(outputs) > 1:
        return "tuple[Tensor, ...]" if op.composite is not None else result_type_name(op)
    return "tuple[Tensor, ...]" if outputs[0].type.is_list else "Tensor"


def _guard(op: OpSpec, but: str = "") -> str:
    """The test that sends a call to the slow path, of all arguments but one."""
    tests = []
    for param in op.signature.tensor_params:
        name = spelled(param.name)
        if name == but:
            continue
        if param.type.is_list:
            tests.append(f"not all_tensors({name})")
        elif param.type.is_optional:
            tests.append(f"({name} is not None and type({name}) is not Tensor)")
        else:
            tests.append(f"type({name}) is not Tensor")
    return " or ".join(tests)


def _liftable(op: OpSpec) -> list[str]:
    """The arguments that are often plain numbers beside a tensor: they skip the slow path."""
    promoted = [p for p in op.signature.tensor_params if p.name in op.promotes]
    if len(promoted) != 2 or any(p.type.is_optional for p in promoted):
        return []
    return [spelled(p.name) for p in promoted]


def _prepare(op: OpSpec, context: ModuleContext) -> tuple[list[str], dict[str, str]]:
    """Arrays out of tensors; answers what each argument is called in the forward."""
    lines: list[str] = []
    spelling = {p.name: spelled(p.name) for p in op.signature.params}
    for param in op.signature.tensor_params:
        name = spelled(param.name)
        spelling[param.name] = f"{name}_array"
        if param.type.is_list:
            lines.append(f"{name}_array = arrays_of({name})")
        elif param.type.is_optional:
            lines.append(f"{name}_array = None if {name} is None else {name}.array")
        else:
            lines.append(f"{name}_array = {name}.array")
    given = {p.name: spelled(p.name) for p in op.signature.params}
    lines += refuse_unmet(op, NumpyRenderer, context, spelling, given)
    return [*lines, *_promotion(op), *_refusal(op)], spelling


def _read_later(lines: list[str], text: str) -> Iterator[str]:
    """Leave out arrays that nothing reads: an argument may be there for its gradient alone."""
    for place, line in enumerate(lines):
        name, _, _ = line.partition(" = ")
        others = "\n".join([*lines[:place], *lines[place + 1 :], text])
        is_array = name.isidentifier() and name.endswith("_array")
        if not is_array or re.search(rf"\b{re.escape(name)}\b", others):
            yield line


def _refusal(op: OpSpec) -> Iterator[str]:
    """Lines that refuse complex arguments, of an op of real numbers.

    So does one whose gradient was found to be zero, which holds of real numbers alone.
    """
    is_flat = bool(op.flat_params) and not op.complex and op.composite is None
    kind = op.real_only or ("NotImplementedError" if is_flat else "")
    if kind:
        given = [p for p in op.signature.params if p.type.base == "Tensor"]
        tested = given if op.real_only else [p for p in given if p.name in op.flat_params]
        described = ", ".join(spelled(p.name) for p in given)
        yield f"if {' or '.join(complex_tests(op, tested))}:"
        op_name = op.signature.name.lstrip("_")
        yield f'    raise complex_refused({kind}, "{op_name}", {described})'


def _promotion(op: OpSpec) -> list[str]:
    """Lines that bring the promoted arguments to one dtype, if they are not there yet."""
    if not op.promotes:
        return []
    arrays = [f"{spelled(name)}_array" for name in op.promotes]
    optional = any(p.type.is_optional for p in op.signature.params if p.name in op.promotes)
    tests = [f"{arrays[0]}.dtype is not {other}.dtype" for other in arrays[1:]]
    if op.int_to_float:
        tests.append(f"{arrays[0]}.dtype.num <= LAST_INTEGER")
    if not tests:
        return []
    promote = "promote_to_float" if op.int_to_float else "promote"
    targets = ", ".join(arrays) if len(arrays) > 1 else f"({arrays[0]},)"
    line = f"{targets} = {promote}({', '.join(arrays)})"
    lines = [*_refused_dtypes(op), line, *_in_floats(op)]
    if optional:
        return lines
    name = "is_cast := " if reduced_params(op) else ""  # for what is recorded
    return [f"if {name}{' or '.join(tests)}:", *(f"    {line}" for line in lines)]


def _in_floats(op: OpSpec) -> Iterator[str]:
    """Lines that bring tensors of whole numbers to the dtype of the floats beside them.

    Gradients read them. Bytes would wrap around in a formula that has them alone.
    """
    tensors = [spelled(p.name) for p in op.signature.params if p.name in op.promotes]
    if len(tensors) > 1 and op.vjps:
        yield from (f"{name} = in_floats({name}, {name}_array)" for name in tensors)


def _refused_dtypes(op: OpSpec) -> Iterator[str]:
    """Lines that refuse what is not brought to one dtype; equal dtypes never come here."""
    for check, names in (
        ("same_dtype", op.same_dtype),
        ("refuse_bools", op.promotes if op.no_bools else ()),
    ):
        if names:
            arrays = ", ".join(f"{spelled(name)}_array" for name in names)
            yield f'kernels.{check}("{op.signature.name.lstrip("_")}", {arrays})'


def _compute(
    op: OpSpec, context: ModuleContext, spelling: dict[str, str], plan: SavedFormulas | None
) -> list[str]:
    assert op.implementation is not None
    kept = [s.name for s in plan.saved if s.source == "local"] if plan is not None else []
    spelling = spelling | {name: f"{name}_array" for name in kept}
    outputs = op.signature.outputs
    target = ", ".join(f"{o.name}_array" for o in outputs) if len(outputs) > 1 else "array"
    if needs_array_function(op) and not kept and not op.requires:
        context.array_functions.add(op.name)
        words = [
            f"{p.name}={spelling[p.name]}" if p.keyword_only else spelling[p.name]
            for p in op.signature.params
        ]
        function = context.function(op, prefix=ARRAY)
        return [f"{target} = {function}({', '.join(words)})"]
    renderer = NumpyRenderer(context, op.implementation, kinds_of_params(op.signature), spelling)
    return renderer.statements(op.implementation.block, f"{target} = {{}}")


def _layout(op: OpSpec) -> Iterator[str]:
    """Lines that put the results into the order in memory that they have in PyTorch."""
    outputs = op.signature.outputs
    names = [f"{o.name}_array" for o in outputs] if len(outputs) > 1 else ["array"]
    words = op.layout * len(names) if len(op.layout) == 1 else op.layout
    for name, word in zip(names, words, strict=False):
        if word == ROWS:
            yield f"if type({name}) is ndarray and not {name}.flags.c_contiguous:"
            yield f"    {name} = {name}.copy()"
        else:
            like = f"{spelled(word)}_array"
            yield f"if not {like}.flags.c_contiguous:"
            yield f"    {name} = kernels.in_order_of({like}, {name})"


def _note_kernels(lines: list[str], context: ModuleContext) -> None:
    """Have the module import what these lines call, and the proof depend on it."""
    for name in re.findall(r"\bkernels\.(\w+)", "\n".join(lines)):
        context.modules.add("kernels")
        context.kernels.add(name)


def _wrap(op: OpSpec) -> list[str]:
    """Lines that put tensors around the arrays; the first is always an ndarray afterwards."""
    outputs = op.signature.outputs
    if outputs[0].type.is_list:
        lines = ["out = tuple(map(wrap, array))"]
        if op.signature.view_of is not None:
            lines.append(f"share_alias_with_all({spelled(op.signature.view_of)}, out)")
        return lines
    if len(outputs) > 1:
        return [f"{o.name} = wrap({o.name}_array)" for o in outputs]
    lines = ["out = wrap(array)"]
    if is_pointwise(op):  # which takes so little time that a call would show
        lines = [
            "out = new_tensor()",
            "out.array = array if type(array) is ndarray else asanyarray(array)",
            "out.grad_node = out.alias = None",
        ]
    if op.signature.view_of is not None:
        lines.append(f"share_alias({spelled(op.signature.view_of)}, out)")
    return lines


def _result(op: OpSpec) -> str:
    outputs = op.signature.outputs
    if len(outputs) == 1:
        return "out"
    return f"{result_type_name(op)}({', '.join(o.name for o in outputs)})"
