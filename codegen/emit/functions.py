"""The public function of an op: check, compute on arrays, wrap, record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..render.context import ModuleContext, function_name
from ..render.resolve import kinds_of_params
from ..render.to_numpy import NumpyRenderer
from ..render.to_tensor import TensorRenderer
from ..render.to_threads import PointwiseRenderer, is_pointwise
from ..spec.model import OpSpec, Param
from .names import forwarded, python_signature, result_type_name, spelled
from .saves import Saved, SavedFormulas, beside
from .views import ArrayFunctionView, FunctionView, NodeView, RecordView, ResultTypeView


def result_type(op: OpSpec) -> ResultTypeView | None:
    """The named tuple of several outputs."""
    outputs = op.signature.outputs
    if len(outputs) == 1 or op.composite is not None:
        return None
    return ResultTypeView(result_type_name(op), op.name, tuple(o.name for o in outputs))


def composite_function(op: OpSpec, context: ModuleContext) -> FunctionView:
    """A function that only calls other ops."""
    assert op.composite is not None
    spelling = {p.name: spelled(p.name) for p in op.signature.params}
    renderer = TensorRenderer(context, op.composite, kinds_of_params(op.signature), spelling)
    body = renderer.statements(op.composite.block, "return {}")
    return FunctionView(
        name=function_name(op, context.resolver),
        public=op.signature.name.lstrip("_"),
        op=op.name,
        signature=python_signature(op),
        returns=_returns(op),
        doc=op.doc,
        guard="",
        lifts=(),
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


def _documented(op: OpSpec) -> str:
    """What the op does, and which gradient it has where there is none by itself."""
    if not op.kinks:
        return op.doc
    kinks = []
    for condition, factor in op.kinks:
        where = re.sub(r"\bself\b", spelled("self"), condition)
        kinks.append(f"        {factor} * grad where {where}")
    return "\n".join((op.doc, "", "    The gradient at its kinks, by convention:", *kinks, "    "))


def recorded_function(
    op: OpSpec, context: ModuleContext, node: NodeView | None, plan: SavedFormulas | None
) -> FunctionView:
    """A function that computes on arrays and leaves a node behind."""
    prepare, spelling = _prepare(op)
    return FunctionView(
        name=function_name(op, context.resolver),
        public=op.signature.name.lstrip("_"),
        op=op.name,
        signature=python_signature(op),
        returns=_returns(op),
        doc=_documented(op),
        guard=_guard(op),
        lifts=tuple(_liftable(op)),
        forwarded=forwarded(op.signature),
        prepare=tuple(prepare),
        compute=tuple(_compute(op, context, spelling, plan)),
        described=", ".join(spelled(p.name) for p in op.signature.tensor_params),
        wrap=tuple(_wrap(op)),
        result=_result(op),
        record=_record(op, node, plan) if node is not None and plan is not None else None,
        node=node,
        composite=(),
    )


def array_function(op: OpSpec, context: ModuleContext) -> ArrayFunctionView:
    """The definition of an op, composite or not, as a function on arrays."""
    definition = op.forward or op.composite
    assert definition is not None
    renderer = NumpyRenderer(context, definition, kinds_of_params(op.signature))
    words: list[str] = []
    for param in op.signature.params:
        if param.keyword_only and "*" not in words:
            words.append("*")
        words.append(f"{param.name}: Any")
    return ArrayFunctionView(
        "array_" + function_name(op, context.resolver),
        op.name,
        ", ".join(words),
        tuple(renderer.statements(definition.block, "return {}")),
    )


def needs_array_function(op: OpSpec) -> bool:
    """Whether the forward is too long to stand in the function itself."""
    return op.forward is not None and op.forward.block.expression is None


def _returns(op: OpSpec) -> str:
    outputs = op.signature.outputs
    if len(outputs) > 1:
        return "tuple[Tensor, ...]" if op.composite is not None else result_type_name(op)
    return "tuple[Tensor, ...]" if outputs[0].type.is_list else "Tensor"


def _guard(op: OpSpec) -> str:
    """The test that sends a call to the slow path."""
    tests = []
    for param in op.signature.tensor_params:
        name = spelled(param.name)
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


def _prepare(op: OpSpec) -> tuple[list[str], dict[str, str]]:
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
    return [*lines, *_promotion(op), *_refusal(op)], spelling


def _refusal(op: OpSpec) -> Iterator[str]:
    """Lines that refuse complex arguments, of an op of real numbers."""
    if op.real_only:
        given = [p for p in op.signature.params if p.type.base == "Tensor"]
        described = ", ".join(spelled(p.name) for p in given)
        yield f"if {' or '.join(_is_complex(op, given))}:"
        op_name = op.signature.name.lstrip("_")
        yield f'    raise complex_refused({op.real_only}, "{op_name}", {described})'


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
    lines = [*_refused_dtypes(op), line]
    return lines if optional else [f"if {' or '.join(tests)}:", *(f"    {line}" for line in lines)]


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
    assert op.forward is not None
    kept = [s.name for s in plan.saved if s.source == "local"] if plan is not None else []
    spelling = spelling | {name: f"{name}_array" for name in kept}
    outputs = op.signature.outputs
    target = ", ".join(f"{o.name}_array" for o in outputs) if len(outputs) > 1 else "array"
    if needs_array_function(op) and not kept:
        context.array_functions.add(op.name)
        words = [
            f"{p.name}={spelling[p.name]}" if p.keyword_only else spelling[p.name]
            for p in op.signature.params
        ]
        function = context.function(op, prefix="array_")
        return [f"{target} = {function}({', '.join(words)})"]
    reading = PointwiseRenderer if is_pointwise(op) else NumpyRenderer
    renderer = reading(context, op.forward, kinds_of_params(op.signature), spelling)
    return renderer.statements(op.forward.block, f"{target} = {{}}")


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
    lines = [
        "out = Tensor()",
        "out.array = array if type(array) is ndarray else asanyarray(array)",
        "out.edge = out.alias = None",
    ]
    if op.signature.view_of is not None:
        lines.append(f"share_alias({spelled(op.signature.view_of)}, out)")
    return lines


def _result(op: OpSpec) -> str:
    outputs = op.signature.outputs
    if len(outputs) == 1:
        return "out"
    return f"{result_type_name(op)}({', '.join(o.name for o in outputs)})"


def differentiable_outputs(op: OpSpec) -> tuple[str, ...]:
    """The outputs that carry a gradient: those with a JVP."""
    with_rule = {name for name, _ in op.jvps}
    return tuple(o.name for o in op.signature.outputs if o.name in with_rule)


def _record(op: OpSpec, node: NodeView, plan: SavedFormulas) -> RecordView:
    wanted = [p for p in op.signature.params if p.name in op.differentiable_params]
    return RecordView(
        refuses="" if op.complex or op.real_only else " or ".join(_is_complex(op, wanted)),
        any_edge=" or ".join(_has_edge(p) for p in wanted),
        edges=_edges(wanted),
        saves=tuple(_saves(op, plan, wanted)),
        attach=_attach(op),
    )


def _is_complex(op: OpSpec, wanted: list[Param]) -> Iterator[str]:
    """Tests for complex arguments; those that are brought to one dtype are tested by the first."""
    promoted = [p.name for p in wanted if p.name in op.promotes]
    for param in wanted:
        name = spelled(param.name)
        test = f"FIRST_COMPLEX <= {name}_array.dtype.num <= LAST_COMPLEX"
        if param.type.is_list:
            yield f"any_complex({name}_array)"
        elif param.type.is_optional:
            yield f"({name}_array is not None and {test})"
        elif param.name not in promoted[1:]:
            yield test
    has_number = any(p.type.base == "Scalar" for p in op.signature.params)
    if len(op.signature.outputs) == 1 and has_number and not op.real_only:
        yield "FIRST_COMPLEX <= array.dtype.num <= LAST_COMPLEX"  # by a complex number


def _saves(op: OpSpec, plan: SavedFormulas, wanted: list[Param]) -> list[str]:
    """What is kept, each thing under the condition that a gradient which needs it is asked for."""
    by_condition: dict[str, list[str]] = {}
    for saved in plan.saved:
        asked = [p for p in wanted if p.name in saved.wanted_by]
        by_condition.setdefault(_condition(asked, wanted), []).extend(_save(op, saved))
    for name in reduced_params(op):
        asked = [p for p in wanted if p.name == name]
        by_condition.setdefault(_condition(asked, wanted), []).append(_save_like(op, name))
    lines = by_condition.pop("", [])
    for condition, saves in by_condition.items():
        lines += [f"if {condition}:", *("    " + line for line in saves)]
    return lines


def _condition(asked: list[Param], wanted: list[Param]) -> str:
    """Whether one of `asked` needs a gradient, where one of `wanted` is known to."""
    return "" if len(asked) == len(wanted) else " or ".join(_has_edge(p) for p in asked)


def _has_edge(param: Param) -> str:
    name = spelled(param.name)
    if param.type.is_list:
        return f"any_edge({name})"
    if param.type.is_optional:
        return f"({name} is not None and {name}.edge is not None)"
    return f"{name}.edge is not None"


def _edges(params: list[Param]) -> str:
    if len(params) == 1 and params[0].type.is_list:
        return f"edges_of({spelled(params[0].name)})"
    words = [
        f"None if {name} is None else {name}.edge" if p.type.is_optional else f"{name}.edge"
        for p in params
        for name in [spelled(p.name)]
    ]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _attach(op: OpSpec) -> str:
    if op.signature.outputs[0].type.is_list:
        return "attach_outputs(node, out)"
    outputs = differentiable_outputs(op)
    if len(outputs) > 1:
        return f"attach_outputs(node, ({', '.join(outputs)}))"
    return f"{'out' if len(op.signature.outputs) == 1 else outputs[0]}.edge = node"


def _save(op: OpSpec, saved: Saved) -> list[str]:
    """The lines that keep one thing."""
    name = spelled(saved.name)
    match saved.source:
        case "tensor":
            version = f"{name}.alias and {name}.alias.version"
            if all(p.name != saved.name for p in op.signature.params):
                version = "None"  # a result is new
            if saved.is_optional:
                version = f"None if {name} is None else {version}"
            return [f"node.{saved.slot} = {name}", f"node._version_{saved.name} = {version}"]
        case "tensors":
            return [
                f"node.{saved.slot} = {name}",
                f"node._version_{saved.name} = versions({name})",
            ]
        case "value":
            return [f"node.{saved.slot} = {name}"]
        case "local":
            return [f"node.{saved.slot} = {saved.name}_array"]
        case "beside":
            found = beside(op)
            assert found is not None
            array = f"{spelled(saved.of)}_array"
            quicker = f"{found[0].quicker}({array}, array)"
            return [f"node.{saved.slot} = None if {array}.size < SEVERAL else {quicker}"]
        case "output":
            single = len(op.signature.outputs) == 1
            return [f"node.{saved.slot} = {'out' if single else name}.array"]
        case "attribute":
            of = next(p for p in op.signature.params if p.name == saved.of)
            value = f"{spelled(of.name)}.array.{saved.attribute}"
            if saved.attribute == "outline":
                value = f"outlines({spelled(of.name)})"
            elif of.type.is_list:
                value = f"[t.array.{saved.attribute} for t in {spelled(of.name)}]"
            elif of.type.is_optional:
                value = f"None if {spelled(of.name)} is None else {value}"
            return [f"node.{saved.slot} = {value}"]


def _save_like(op: OpSpec, name: str) -> str:
    """Whether a gradient must be summed down or cast: decided here, once, in the forward.

    What is kept of any argument is not what it was cast to, and gradients that it takes part in
    are of its dtype, so all of them have to be as they came.
    """
    promoted = [p for p in op.signature.tensor_params if p.name in op.promotes]
    fits = " and ".join(
        [f"{spelled(name)}_array.shape == array.shape", *(_is_uncast(p) for p in promoted)]
    )
    return f"node._like_{name} = None if {fits} else likeness({spelled(name)})"


def _is_uncast(param: Param) -> str:
    """Whether an op computes with the array of an argument itself."""
    tensor = spelled(param.name)
    same = f"{tensor}_array is {tensor}.array"
    return f"({tensor} is None or {same})" if param.type.is_optional else same


def reduced_params(op: OpSpec) -> tuple[str, ...]:
    """The arguments whose gradient may have to be brought to their shape and dtype."""
    if len(op.signature.tensor_params) < 2:
        return ()
    return tuple(name for name in op.promotes if name in op.differentiable_params)
