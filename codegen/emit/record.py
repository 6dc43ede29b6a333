"""Record a node, with its edges and what the gradients read, where a gradient is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..render.pointwise import is_pointwise
from ..spec.model import AutoElementwise, Constant, OpSpec, Param, spelled
from .saves import OPTIONS, Saved, SavedFormulas
from .scopes import slot
from .views import RecordView


def differentiable_outputs(op: OpSpec) -> tuple[str, ...]:
    """The outputs that carry a gradient: those with a JVP."""
    with_rule = {name for name, _ in op.jvps}
    return tuple(o.name for o in op.signature.outputs if o.name in with_rule)


def record(op: OpSpec, plan: SavedFormulas) -> RecordView:
    """The lines that make the node, and when."""
    wanted = wanted_params(op)
    constants = [p for p in op.signature.tensor_params if isinstance(op.rule(p.name), Constant)]
    asked = [has_grad_node(p) for p in (*wanted, *constants)]
    differentiable = [p for p in wanted if p.name in op.differentiable_params]
    tests = complex_tests(op, differentiable)
    any_grad_node = f"({' or '.join(asked)})" if len(asked) > 1 else asked[0]
    if any(p.type.base == "ScalarType" for p in op.signature.params):
        any_grad_node += " and array.dtype.num > LAST_INTEGER"  # whole numbers have no gradient
    return RecordView(
        refuses="" if op.complex or op.real_only else " or ".join(tests),
        any_grad_node=any_grad_node,
        next_nodes=_next_nodes(wanted),
        saves=(
            *(line for param in constants for line in _refuse(op, param)),
            *([_count_inputs(wanted)] if has_list_inputs(op) else ()),
            *_saves(op, plan, wanted),
        ),
        attach=_attach(op),
    )


def wanted_params(op: OpSpec) -> list[Param]:
    """The arguments that gradients may be asked of."""
    return [p for p in op.signature.params if p.name in op.recorded_params]


def _refuse(op: OpSpec, param: Param) -> Iterator[str]:
    """Raise if a gradient is asked of what is constant for the op."""
    rule = op.rule(param.name)
    assert isinstance(rule, Constant)
    words = (op.signature.name.lstrip("_"), param.public, rule.reason)
    yield f"if {has_grad_node(param)}:"
    yield f"    raise must_be_constant({', '.join(map(repr, words))})"


def complex_tests(op: OpSpec, wanted: list[Param]) -> Iterator[str]:
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
    """Save values, each under the condition that a gradient which reads it is asked for."""
    by_condition: dict[str, list[str]] = {}

    def save(wanted_by: Iterable[str], lines: list[str]) -> None:
        asked = [p for p in wanted if p.name in wanted_by]
        by_condition.setdefault(_condition(asked, wanted), []).extend(lines)

    for saved in plan.saved:
        if not saved.is_option:
            save(saved.wanted_by, _save(op, saved))
    if plan.options:
        values = "".join(f"{_option(op, saved)}, " for saved in plan.options)
        read_by = {name for saved in plan.options for name in saved.wanted_by}
        save(read_by, [f"node.{OPTIONS} = ({values})"])
    for name in reduced_params(op):
        save((name,), [_save_shape(op, name)])
    lines = by_condition.pop("", [])
    for condition, saves in by_condition.items():
        lines += [f"if {condition}:", *("    " + line for line in saves)]
    return lines


def _condition(asked: list[Param], wanted: list[Param]) -> str:
    """The test whether one of `asked` needs a gradient, where one of `wanted` is known to."""
    return "" if len(asked) == len(wanted) else " or ".join(has_grad_node(p) for p in asked)


def has_grad_node(param: Param) -> str:
    """The test whether an argument asks for a gradient."""
    name = spelled(param.name)
    if param.type.is_list:
        return f"any_grad_node({name})"
    if param.type.is_optional:
        return f"({name} is not None and {name}.grad_node is not None)"
    return f"{name}.grad_node is not None"


def _next_nodes(params: list[Param]) -> str:
    if len(params) == 1 and params[0].type.is_list:
        return f"grad_nodes_of({spelled(params[0].name)})"
    words = [_next_node(param) for param in params]
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _next_node(param: Param) -> str:
    name = spelled(param.name)
    if param.type.is_list:
        return f"*grad_nodes_of({name})"
    return (f"None if {name} is None else " if param.type.is_optional else "") + f"{name}.grad_node"


def has_list_inputs(op: OpSpec) -> bool:
    """Return whether a list is one of several arguments that gradients may be asked of."""
    wanted = wanted_params(op)
    return len(wanted) > 1 and any(param.type.is_list for param in wanted)


def _count_inputs(wanted: list[Param]) -> str:
    """The line that keeps how many inputs of the node each argument is."""
    counts = [f"len({spelled(p.name)})" if p.type.is_list else "1" for p in wanted]
    return f"node.input_counts = ({', '.join(counts)})"


def _attach(op: OpSpec) -> str:
    if op.signature.outputs[0].type.is_list:
        return "attach_outputs(node, out)"
    outputs = differentiable_outputs(op)
    if len(outputs) > 1:
        return f"attach_outputs(node, ({', '.join(outputs)}))"
    return f"{'out' if len(op.signature.outputs) == 1 else outputs[0]}.grad_node = node"


def _save(op: OpSpec, saved: Saved) -> list[str]:
    """The lines that keep one thing."""
    is_output = any(output.name == saved.name for output in op.signature.outputs)
    name = saved.name if is_output else spelled(saved.name)
    match saved.source:
        case "tensor":
            version = f"{name}.alias and {name}.alias.version"
            if all(p.name != saved.name for p in op.signature.params):
                version = "None"  # a result is new
            if saved.is_optional:
                version = f"None if {name} is None else {version}"
            return [
                f"node.{saved.slot} = {name}",
                f"node.{slot('version', saved.name)} = {version}",
            ]
        case "tensors":
            return [
                f"node.{saved.slot} = tuple({name})",  # the list may change
                f"node.{slot('version', saved.name)} = versions({name})",
            ]
        case "local":
            return [f"node.{saved.slot} = {saved.name}_array"]
        case "output":
            single = len(op.signature.outputs) == 1
            return [f"node.{saved.slot} = {'out' if single else name}.array"]
        case _:
            raise AssertionError(f"{saved.source} is saved among the options")


def _option(op: OpSpec, saved: Saved) -> str:
    """The value of one item of the tuple of options."""
    params = {p.name: p for p in op.signature.params}
    if saved.source == "value":
        name = spelled(saved.name)
        # A list may change before the gradient is computed; users see a tuple, as in PyTorch.
        own = f"tuple({name}) if type({name}) is list else {name}"
        return own if params[saved.name].type.is_list else name
    of = params[saved.of]
    name = spelled(of.name)
    value = f"{name}.array.{saved.attribute}"
    if saved.attribute == "meta":
        return f"meta_tensors({name})"
    if of.type.is_list:
        return f"[t.array.{saved.attribute} for t in {name}]"
    return f"None if {name} is None else {value}" if of.type.is_optional else value


def _save_shape(op: OpSpec, name: str) -> str:
    """The line that saves the shape of an argument whose gradient must be summed down or cast.

    It is decided here, once, in the forward; False stands for a gradient that fits as it is.

    What is kept of any argument is not what it was cast to, and gradients that it takes part in
    are of its dtype, so all of them have to be as they came.
    """
    promoted = [p for p in op.signature.tensor_params if p.name in op.promotes]
    others = [p for p in promoted if p.name != name]
    tests = [f"{spelled(name)}_array.shape != array.shape"]
    if others and not _is_as_broadcast(op):
        tests = [_differs_in_shape(name, other) for other in others]
    if any(p.type.is_optional for p in promoted):
        tests += map(_is_cast, promoted)
    elif len(promoted) > 1 or op.int_to_float:
        tests.insert(0, "is_cast")
    condition = f"({' or '.join(tests)})" if len(tests) > 1 else tests[0]
    return f"node.{slot('shape', name)} = {condition} and shape_dtype({spelled(name)})"


def _is_as_broadcast(op: OpSpec) -> bool:
    """Return whether the result has the shape that the promoted arguments broadcast to.

    That of a reduction is another one, and several results have no shape in common.
    """
    elementwise = any(isinstance(rule, AutoElementwise) for _, rule in op.jvps)
    return len(op.signature.outputs) == 1 and (elementwise or is_pointwise(op))


def _differs_in_shape(name: str, other: Param) -> str:
    """The test whether an argument has not the shape of another one, which may be absent."""
    array = f"{spelled(other.name)}_array"
    differs = f"{spelled(name)}_array.shape != {array}.shape"
    return f"({array} is not None and {differs})" if other.type.is_optional else differs


def _is_cast(param: Param) -> str:
    """The test whether an op computes with a cast copy of an argument."""
    tensor = spelled(param.name)
    is_copy = f"{tensor}_array is not {tensor}.array"
    return f"({tensor} is not None and {is_copy})" if param.type.is_optional else is_copy


def reduced_params(op: OpSpec) -> tuple[str, ...]:
    """The arguments whose gradient may have to be brought to their shape and dtype."""
    if len(op.signature.tensor_params) < 2:
        return ()
    return tuple(name for name in op.promotes if name in op.differentiable_params)
