"""One op, run through the real engine on symbols: what it computes, and every derivative it gives.

Imports the runtime lazily: only workers may, once `staging` has put the tree to be proved in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sympy

from ...spec.model import NotImplementedYet, OpSpec
from ..inputs.draw import Inputs
from ..inputs.parametrize import is_variable, tangents
from ..numeric.evaluate import Point
from ..symbolic.complex_numbers import is_complex
from ..symbolic.decisions import Decision, ProofError, tracing
from ..symbolic.symbols import SymArray, expressions
from ..zero.number_fields import numeric_values
from .definition import evaluate_definition
from .real_numbers import real_gradients, real_part_of

Array: TypeAlias = np.ndarray[Any, Any]

Leaf: TypeAlias = tuple[str, int]
"""A tensor argument: the parameter, and the position in it if it is a list."""


def argument(values: dict[str, Any], leaf: Leaf) -> Any:
    """Pick the value of a tensor argument from the values by parameter."""
    given = values[leaf[0]]
    return given[leaf[1]] if isinstance(given, list) else given


@dataclass
class Run:
    """Everything one run gave; arrays hold sympy expressions, None stands for no gradient."""

    inputs: Inputs
    point: Point
    leaves: list[Leaf]
    """The arguments that gradients flow to."""
    outputs: dict[str, Array] = field(default_factory=dict)
    """The differentiable outputs."""
    real_ones: set[str] = field(default_factory=set)
    """The outputs of real numbers, where arguments are complex."""
    fixed: dict[str, Array] = field(default_factory=dict)
    """The other outputs, such as indices."""
    defined: dict[str, Array] = field(default_factory=dict)
    """All outputs again, by the definition of an op that a kernel computes."""
    cotangents: dict[str, Array] = field(default_factory=dict)
    gradients: dict[Leaf, Array | None] = field(default_factory=dict)
    alone: dict[Leaf, Array | None] = field(default_factory=dict)
    """The gradients again, each asked for with no other argument requiring one."""
    recorded: dict[Leaf, Array | None] = field(default_factory=dict)
    """The gradients again, computed by the path that can be differentiated."""
    weights: dict[Leaf, Array] = field(default_factory=dict)
    """The cotangents of the gradients, in the second pass; and the tangents in forward mode."""
    directions: dict[Leaf, dict[sympy.Symbol, sympy.Symbol]] = field(default_factory=dict)
    """The tangent of each parameter: of each element, or of what the elements are made of."""
    second: dict[Leaf | str, Array | None] = field(default_factory=dict)
    """The gradient of the weighted gradients, by argument and by cotangent."""
    tangents: dict[str, Array | None] = field(default_factory=dict)
    """Forward mode's answer for each output; empty if the op has none."""
    of_one_tangent: dict[Leaf, dict[str, Array | None]] = field(default_factory=dict)
    """The same where only one argument has a tangent: the others' are absent, not zero."""
    of_one_cotangent: dict[tuple[str, bool], dict[Leaf, Array | None]] = field(default_factory=dict)
    """The gradients where only one output was used, on arrays and under `create_graph`."""
    decisions: tuple[Decision, ...] = ()
    is_on_border: bool = False

    def array(self, leaf: Leaf) -> Array:
        """The expressions of an argument."""
        return expressions(self.inputs.tensors(leaf[0])[leaf[1]])


def runtime_op(spec: OpSpec) -> Any:
    """The op as the generated package registered it."""
    from gradspec.dispatch.registry import BY_NAME

    if spec.name not in BY_NAME:
        raise ProofError(f"the generated package does not register `{spec.name}`")
    return BY_NAME[spec.name]


def execute(
    spec: OpSpec, inputs: Inputs, point: Point, complete: Callable[[], None], *, tie: bool = False
) -> Run:
    """Run an op on symbols: forward, backward, twice backward, and forward mode.

    `complete()` gives a witness to the symbols that were made on the way. At a `tie` only first
    derivatives mean something.
    """
    run = Run(inputs, point, differentiable_leaves(spec, inputs))
    with tracing(point) as trace, real_gradients(map(run.array, run.leaves)):
        _forward(spec, run)
        complete()
        if run.leaves and run.outputs:
            _backward(spec, run)
            if not tie:
                _backward_alone(spec, run)
                _backward_of_one_output(spec, run)
                _backward_twice(spec, run)
            run.tangents = _forward_mode(spec, run, run.leaves)
            if run.tangents and not tie and len(run.leaves) > 1:
                for leaf in run.leaves:
                    run.of_one_tangent[leaf] = _forward_mode(spec, run, [leaf])
    run.decisions = tuple(trace.decisions.values())
    run.is_on_border = trace.is_on_border
    return run


def differentiable_leaves(spec: OpSpec, inputs: Inputs) -> list[Leaf]:
    """The symbolic arguments that have a gradient; in a composite every one has."""
    leaves = []
    for param in spec.signature.tensor_params:
        if spec.composite is None and param.name not in spec.differentiable_params:
            continue
        for number, array in enumerate(inputs.tensors(param.name)):
            if isinstance(array, SymArray) and is_variable(expressions(array)):
                leaves.append((param.name, number))
    return leaves


class Call:
    """The arguments of the op as tensors, some of them requiring grad, and the call itself."""

    def __init__(self, spec: OpSpec, values: dict[str, Any], requiring: list[Leaf]) -> None:
        from gradspec.core.tensor import wrap

        self.spec = spec
        self.tensors: dict[Leaf, Any] = {}
        self.values = dict(values)
        for param in spec.signature.tensor_params:
            name, value = param.name, values[param.name]
            if value is None:
                continue
            if isinstance(value, list):
                made = self.values[name] = [None if each is None else wrap(each) for each in value]
            else:
                made = [wrap(value)]
                self.values[name] = made[0]
            for number, tensor in enumerate(made):
                if tensor is not None and (name, number) in requiring:
                    self.tensors[name, number] = tensor.requires_grad_()

    def replace(self, leaf: Leaf, tensor: Any) -> None:
        """Pass something else for one argument."""
        name, number = leaf
        if isinstance(self.values[name], list):
            self.values[name][number] = tensor
        else:
            self.values[name] = tensor

    def __call__(self) -> dict[str, Any]:
        """The outputs by name."""
        op = runtime_op(self.spec)
        args, kwargs = [], {}
        for known, param in zip(op.params, self.spec.signature.params, strict=True):
            if param.keyword_only:
                kwargs[known.name] = self.values[param.name]
            else:
                args.append(self.values[param.name])
        result = op.function(*args, **kwargs)
        outputs = self.spec.signature.outputs
        if len(outputs) > 1:
            return dict(zip((output.name for output in outputs), result, strict=True))
        if isinstance(result, tuple | list):
            return {f"{outputs[0].name}[{n}]": tensor for n, tensor in enumerate(result)}
        return {outputs[0].name: result}


def differentiable_names(spec: OpSpec, outputs: dict[str, Any]) -> list[str]:
    """The outputs that carry a gradient, and could: symbols, where the spec does not deny it."""
    allowed = {output.name for output in spec.differentiable_outputs}
    return [
        name
        for name, tensor in outputs.items()
        if name.partition("[")[0] in allowed and tensor.array.dtype.kind in "fO"
    ]


def _forward(spec: OpSpec, run: Run) -> None:
    from gradspec.core.modes import no_grad

    with no_grad():
        outputs = Call(spec, run.inputs.values, [])()
    differentiable = differentiable_names(spec, outputs)
    for name, tensor in outputs.items():
        if tensor.array.dtype == object:
            (run.outputs if name in differentiable else run.fixed)[name] = expressions(tensor.array)
        else:
            run.fixed[name] = tensor.array
    if spec.kernel is not None:
        for name, array in evaluate_definition(spec, run.inputs.values).items():
            run.defined[name] = expressions(array) if array.dtype == object else array
    taken = {param.name for param in spec.signature.params}
    complex_ones = _complex_outputs(spec, run)
    if any(is_complex(expr) for leaf in run.leaves for expr in run.array(leaf).flat):
        run.real_ones = run.outputs.keys() - complex_ones
    for name, array in run.outputs.items():
        label = "grad" if len(run.outputs) == 1 else f"grad_{name}"
        label = f"{label}_" if label in taken else label
        run.cotangents[name] = run.inputs.fresh_like(label, array, is_complex=name in complex_ones)
    for leaf in run.leaves:
        number = str(leaf[1]) if isinstance(run.inputs.values[leaf[0]], list) else ""
        label = f"{leaf[0]}{number}_t"
        run.weights[leaf], run.directions[leaf] = tangents(run.array(leaf), label, run.inputs)


def _complex_outputs(spec: OpSpec, run: Run) -> set[str]:
    """The outputs that hold complex numbers: floats tell, as a real one may mention `i`."""
    arrays = [*run.outputs.values(), *map(run.array, run.leaves)]
    if not any(is_complex(expr) for array in arrays for expr in array.flat):
        return set()
    from gradspec.core.modes import no_grad

    with no_grad(), np.errstate(all="ignore"):
        outputs = Call(spec, numeric_values(run.inputs, run.point), [])()
    return {name for name, tensor in outputs.items() if tensor.is_complex()}


def _roots(outputs: dict[str, Any], run: Run) -> tuple[list[Any], list[Any]]:
    """The outputs that a backward pass can start from, with their cotangents."""
    from gradspec.core.tensor import wrap

    names = [name for name in run.outputs if outputs[name].requires_grad]
    return [outputs[n] for n in names], [wrap(run.cotangents[n]) for n in names]


def _backward(spec: OpSpec, run: Run) -> None:
    from gradspec.autograd import backward

    call = Call(spec, run.inputs.values, run.leaves)
    roots, cotangents = _roots(call(), run)
    if roots:
        backward(roots, cotangents)
    run.gradients = {leaf: _expressions(call.tensors[leaf].grad) for leaf in run.leaves}


def _backward_alone(spec: OpSpec, run: Run) -> None:
    from gradspec.autograd import backward

    if len(run.leaves) == 1:
        return
    for leaf in run.leaves:
        call = Call(spec, run.inputs.values, [leaf])
        roots, cotangents = _roots(call(), run)
        if roots:
            backward(roots, cotangents)
        run.alone[leaf] = _expressions(call.tensors[leaf].grad)


def _backward_of_one_output(spec: OpSpec, run: Run) -> None:
    """Start from one of several outputs: the cotangents of the others are absent, not zero."""
    from gradspec.autograd import grad
    from gradspec.core.tensor import wrap

    if len(run.outputs) == 1:
        return
    for name in run.outputs:
        for recorded in (False, True):
            call = Call(spec, run.inputs.values, run.leaves)
            root, leaves = call()[name], list(call.tensors.values())
            if root.requires_grad:
                cotangent = wrap(run.cotangents[name])
                found = grad(root, leaves, cotangent, create_graph=recorded, allow_unused=True)
                run.of_one_cotangent[name, recorded] = {
                    leaf: _expressions(g) for leaf, g in zip(call.tensors, found, strict=True)
                }


def _backward_twice(spec: OpSpec, run: Run) -> None:
    """Differentiate the sum of the gradients, each weighted with symbols of its own."""
    from gradspec.autograd import grad
    from gradspec.core.tensor import wrap

    call = Call(spec, run.inputs.values, run.leaves)
    outputs = call()
    roots, cotangents = _roots(outputs, run)
    if not roots:
        return
    for cotangent in cotangents:
        cotangent.requires_grad_()
    for name in run.real_ones:
        if outputs[name].requires_grad:
            outputs[name].register_hook(real_part_of)
    leaves = list(call.tensors.values())
    first = grad(roots, leaves, cotangents, create_graph=True, allow_unused=True)
    run.recorded = {leaf: _expressions(g) for leaf, g in zip(call.tensors, first, strict=True)}
    again = [
        (g, wrap(run.weights[leaf]))
        for leaf, g in zip(call.tensors, first, strict=True)
        if g is not None and g.requires_grad and g.shape == run.weights[leaf].shape
    ]
    names: list[Leaf | str] = [*call.tensors, *(n for n in run.outputs if outputs[n].requires_grad)]
    found: tuple[Any, ...] = (None,) * len(names)
    if again:
        found = grad(
            [g for g, _ in again],
            [*leaves, *cotangents],
            [weight for _, weight in again],
            allow_unused=True,
        )
    run.second = {name: _expressions(g) for name, g in zip(names, found, strict=True)}


def _forward_mode(spec: OpSpec, run: Run, leaves: list[Leaf]) -> dict[str, Array | None]:
    """The tangents of the outputs, where these arguments have tangents."""
    from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
    from gradspec.core.tensor import wrap

    if any(isinstance(rule, NotImplementedYet) for _, rule in spec.jvps):
        return {}
    call = Call(spec, run.inputs.values, [])
    with dual_level():
        for leaf in leaves:
            primal = wrap(run.inputs.tensors(leaf[0])[leaf[1]])
            call.replace(leaf, make_dual(primal, wrap(run.weights[leaf])))
        outputs = call()
        return {name: _expressions(unpack_dual(outputs[name]).tangent) for name in run.outputs}


def _expressions(tensor: Any) -> Array | None:
    return None if tensor is None else expressions(tensor.array)
