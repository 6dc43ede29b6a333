"""Empty tensors, scalars and other unusual shapes, against PyTorch: values and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradspec_codegen.spec.model import AutoElementwise, OpSpec
from tests.ops.cases import TABLE, Arguments

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*degrees of freedom"),
    pytest.mark.filterwarnings("ignore:.*warning is emitted by:UserWarning"),
]

UNARY_SHAPES = ((), (0,), (1,), (2, 0), (1, 1, 2))

BINARY_SHAPES = (
    ((), ()),
    ((0,), (0,)),
    ((0,), ()),
    ((2, 0), (1,)),
    ((1,), (0, 1)),
    ((2, 1, 2), (3, 1)),
)

REDUCED_SHAPES: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((), 0),
    ((), -1),
    ((), None),
    ((1,), 0),
    ((0,), 0),
    ((2, 0), 0),
    ((2, 0), 1),
    ((2, 0, 3), [0, 2]),
    ((2, 3, 1), [-1, 0]),
    ((2, 3), []),
)

REDUCTIONS = ("sum.dim_IntList", "mean.dim", "var.correction", "logsumexp")

NOT_IN_TORCH = {("logsumexp", "None"), ("logsumexp", "[]"), ("var.correction", "[]")}
"""Dims that PyTorch refuses, or whose gradient it gets wrong."""

ONE_DIM = ("softmax.int", "log_softmax.int", "cumsum", "max.dim", "min.dim", "amax", "amin")


def _elementwise(op: OpSpec) -> bool:
    rule = dict(op.jvps).get("result")
    others = [p for p in op.signature.params if p.type.base != "Tensor"]
    return not others and (bool(op.promotes) or isinstance(rule, AutoElementwise))


def _calls() -> Iterator[Any]:
    """`(op, arguments)`, each tensor as its shape in a tuple."""
    named = {op.name: op for op in TABLE.ops}
    for op in TABLE.ops:
        if op.signature.name.startswith(("_", "bitwise", "gcd", "lcm")) or not _elementwise(op):
            continue
        names = [p.name for p in op.signature.params if p.type.is_tensor]
        if len(names) == 1:
            for shape in UNARY_SHAPES:
                yield op, {names[0]: shape}
        elif len(names) == 2:
            for shapes in BINARY_SHAPES:
                yield op, dict(zip(names, shapes, strict=True))
    for name in REDUCTIONS:
        for shape, dim in REDUCED_SHAPES:
            if (name, str(dim)) not in NOT_IN_TORCH and (name, shape) != ("var.correction", ()):
                yield named[name], {"self": shape, "dim": dim, "keepdim": True}
                yield named[name], {"self": shape, "dim": dim}
    for name in ONE_DIM:
        for shape, dim in (((), 0), ((1,), 0), ((2, 0), 0), ((0, 2), 1), ((1, 2, 3), -2)):
            # PyTorch too refuses the largest of no elements.
            if name[:2] not in ("ma", "mi", "am") or shape not in ((0, 2), (2, 0)):
                yield named[name], {"self": shape, "dim": dim}
    for first, second in (((0, 2), (2, 3)), ((2, 0), (0, 3)), ((1, 1), (1, 1))):
        yield named["mm"], {"self": first, "mat2": second}
        yield named["matmul"], {"self": first, "other": second}
    for first, second in (((2, 0, 3), (3, 2)), ((2, 2, 0), (0, 2)), ((0, 2, 3), (3,))):
        yield named["matmul"], {"self": first, "other": second}
    yield named["dot"], {"self": (0,), "tensor": (0,)}
    yield named["linear"], {"input": (0, 2), "weight": (3, 2), "bias": (3,)}
    yield named["linear"], {"input": (2, 0, 2), "weight": (3, 2), "bias": (3,)}
    yield named["cat"], {"tensors": [(0,), (2, 2), (0, 2)]}
    yield named["stack"], {"tensors": [(0, 2), (0, 2)], "dim": 1}
    yield named["mse_loss"], {"self": (0,), "target": (0,)}
    yield named["squeeze"], {"self": (1, 0, 1)}
    yield named["reshape"], {"self": (2, 0), "shape": [0, 3]}
    yield named["expand"], {"self": (1, 0), "size": [2, 0]}
    yield named["gather"], {"self": (2, 3), "dim": 1, "index": np.zeros((2, 0), np.int64)}
    yield named["index_select"], {"self": (2, 3), "dim": 0, "index": np.zeros(0, np.int64)}
    yield named["index.Tensor"], {"self": (2, 3), "indices": [np.zeros(0, np.int64)]}
    yield named["masked_fill.Scalar"], {"self": (0,), "mask": np.zeros(0, bool), "value": 1.0}
    yield named["cross_entropy"], {"self": (1, 2), "target": np.zeros(1, np.int64)}


CALLS = [
    pytest.param(op, arguments, id=f"{op.name}-{tuple(map(str, arguments.values()))}")
    for op, arguments in _calls()
]


@pytest.mark.parametrize(("op", "arguments"), CALLS)
def test_shape(op: OpSpec, arguments: Arguments) -> None:
    from .comparison import assert_same_answers

    rng = np.random.default_rng(0)

    def filled(value: Any) -> Any:
        if isinstance(value, tuple):
            return np.asarray(rng.uniform(0.2, 0.9, value) + (1.0 if op.name == "acosh" else 0.0))
        if isinstance(value, list) and any(isinstance(item, tuple) for item in value):
            return [filled(item) for item in value]
        return value

    rtol = {"lgamma": 1e-8, "digamma": 1e-8, "hardsigmoid": 1e-7}.get(op.name, 1e-10)
    assert_same_answers(op, {name: filled(value) for name, value in arguments.items()}, rtol)
