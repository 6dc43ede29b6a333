"""The fallback for ops that no symbols can go through: finite differences."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ...spec.model import OpSpec
from ..identities.identity import Mismatch
from ..identities.run import Call, Leaf, differentiable_leaves, differentiable_names
from ..inputs.draw import build, examples_of
from ..zero.number_fields import numeric_values

POINTS = 5


def check_numerically(spec: OpSpec, *, points: int = POINTS, seed: str = "") -> int:
    """Compare gradients with differences, and count them. Raises Mismatch where they differ."""
    from gradspec.autograd import gradcheck, gradgradcheck

    rng = random.Random(spec.name + seed)
    checked = 0
    for example in examples_of(spec):
        inputs = build(spec, example)
        leaves = differentiable_leaves(spec, inputs)
        for _ in range(points):
            values = numeric_values(inputs, inputs.draw(rng))
            function = _as_function(spec, values, leaves)
            tensors = tuple(Call(spec, values, leaves).tensors.values())
            for check in (gradcheck, gradgradcheck):
                if not check(function, tensors, raise_exception=False):
                    raise Mismatch(f"{check.__name__} of {spec.name}", leaves[0][0], "differs")
                checked += 1
    return checked


def _as_function(spec: OpSpec, values: dict[str, Any], leaves: list[Leaf]) -> Callable[..., Any]:
    """The op as a function of the tensors that gradients flow to."""

    def function(*tensors: Any) -> tuple[Any, ...]:
        call = Call(spec, values, [])
        for leaf, tensor in zip(leaves, tensors, strict=True):
            call.replace(leaf, tensor)
        outputs = call()
        return tuple(outputs[name] for name in differentiable_names(spec, outputs))

    return function
