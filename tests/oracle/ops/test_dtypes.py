"""Result dtypes for every mixture of arguments, and refusals of it, against PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest

from gradspec_codegen.spec.model import OpSpec
from tests.ops.cases import TABLE, Arguments, call_gradspec, convert, leaf

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:An output with one or more elements was resized"),
]

Shape: TypeAlias = tuple[int, ...]

DTYPES = ("float64", "float32", "float16", "int64", "int32", "uint8", "bool")

ONE_TENSOR: dict[str, Arguments] = {
    **{name: {} for name in ("sum", "mean", "max", "min", "argmax", "all", "any", "clone", "tril")},
    **{name: {} for name in ("neg", "abs", "sign", "floor", "ceil", "round", "trunc", "relu")},
    **{name: {} for name in ("logical_not", "bitwise_not", "isnan", "isinf", "isfinite")},
    **{name: {"dim": [0]} for name in ("sum.dim_IntList", "mean.dim", "amax", "amin", "logsumexp")},
    **{name: {"dim": [0]} for name in ("var.correction", "std.correction")},
    **{name: {"dim": 0} for name in ("max.dim", "min.dim", "argmin", "cumsum")},
    **{name: {"dim": 0} for name in ("softmax.int", "log_softmax.int")},
    "flip": {"dims": [0]},
}
"""Ops of one tensor that do not promote, each with the arguments it needs."""

WITH_NUMBER = (
    *("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "remainder.Scalar"),
    *("pow.Tensor_Scalar", "rsub.Scalar", "clamp_min", "clamp_max"),
    *("eq.Tensor", "lt.Tensor", "ge.Tensor"),
)

THOROUGHLY = ("add.Tensor", "div.Tensor", "pow.Tensor_Tensor", "maximum", "eq.Tensor")
"""All promoting ops share their code; these see every pair of dtypes."""

DIFFERENT = {
    *(("bool", name) for name in ("abs", "neg", "sign", "relu", "floor", "ceil", "round", "trunc")),
    *(
        ("bool", name)
        for name in ("sub.Tensor", "rsub.Scalar", "remainder.Tensor", "remainder.Scalar")
    ),
    *(("bool", name) for name in ("pow.Tensor_Scalar", "pow.Tensor_Tensor")),
    *(("uint8", name) for name in ("all", "any")),
    *(("float16", name) for name in ("erf", "erfc", "lgamma", "digamma")),
    *(("float16", name) for name in ("erfinv", "i0", "logit")),
    *(("float16", f"special_{name}") for name in ("entr", "i0e", "i1", "i1e", "ndtr")),
}
"""Differences of NumPy and SciPy: arithmetic on bools, float16 in special functions."""

ROUNDED = {"sinc": {"float16": 1e-7, "float32": 5e-8, "float64": 5e-17}}
"""Absolute tolerances, by the dtype of the result: zero here, where PyTorch rounds a sine."""


def _promoting(tensors: int) -> list[OpSpec]:
    """The public elementwise ops of that number of tensors and nothing else."""
    return [
        op
        for op in TABLE.ops
        if op.promotes
        and not op.signature.name.startswith("_")
        and len(op.signature.params) == tensors
        and all(p.type.is_tensor and not p.type.is_optional for p in op.signature.params)
    ]


def _calls() -> Iterator[Any]:
    """`(op, arguments)`; a tensor is `(dtype, shape)`."""
    named = {op.name: op for op in TABLE.ops}
    for op, dtype in product(_promoting(1), DTYPES):
        yield op, {op.signature.params[0].name: (dtype, (2,))}
    for name, dtype in product(ONE_TENSOR, DTYPES):
        yield named[name], {"self": (dtype, (2, 2)), **ONE_TENSOR[name]}
    for op in _promoting(2):
        first, second = (p.name for p in op.signature.params)
        dtypes = DTYPES if op.name in THOROUGHLY else ("float32", "int64", "bool")
        shapes: tuple[tuple[Shape, Shape], ...] = (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ()))
        for a, b, (m, n) in product(dtypes, dtypes, shapes):
            yield op, {first: (a, m), second: (b, n)}
    for name, dtype, number in product(WITH_NUMBER, DTYPES, (True, 2, 0.5)):
        second = named[name].signature.params[1].name
        yield named[name], {"self": (dtype, (2,)), second: number}


def _kinds(arguments: Arguments) -> set[str]:
    found = {x[0] for x in arguments.values() if isinstance(x, tuple)}
    return found | {"bool" for x in arguments.values() if isinstance(x, bool)}


CALLS = [
    pytest.param(op, arguments, id=f"{op.name}-{tuple(arguments.values())}")
    for op, arguments in _calls()
    if not any((kind, op.name) in DIFFERENT for kind in _kinds(arguments))
]


@pytest.mark.parametrize(("op", "arguments"), CALLS)
def test_dtype(op: OpSpec, arguments: Arguments) -> None:
    from . import comparison

    arrays = {
        name: np.ones(x[1], x[0]) if isinstance(x, tuple) else x for name, x in arguments.items()
    }

    def run(library: comparison.Library) -> Any:
        converted = convert(op, arrays, lambda array, _: library.leaf(array, False))
        try:
            result = library.call(op, converted)
        except Exception as error:
            return error
        return list(result) if isinstance(result, tuple | list) else [result]

    mine, theirs = run(comparison.GRADSPEC), run(comparison.TORCH)
    if isinstance(theirs, NotImplementedError):
        # What PyTorch lacks a kernel for may work here.
        assert not isinstance(mine, Exception) or isinstance(mine, NotImplementedError)
        return
    if isinstance(theirs, Exception):
        assert isinstance(mine, type(theirs)), f"{mine!r}, PyTorch {theirs!r}"
        return
    assert not isinstance(mine, Exception), f"{mine!r}, PyTorch {theirs!r}"
    for a, b in zip(mine, theirs, strict=True):
        assert str(a.dtype) == str(b.dtype).removeprefix("torch."), f"PyTorch {b.dtype}"
        rtol = 1e-2 if a.dtype == np.float16 else 1e-5
        atol = ROUNDED.get(op.name, {}).get(str(a.dtype), 0)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=rtol, atol=atol)


def test_integers_become_floats_of_the_default_dtype() -> None:
    op = next(op for op in TABLE.ops if op.name == "exp")
    assert call_gradspec(op, {"self": leaf(np.array([1, 2]), False)}).dtype == np.float32
