"""Functions of lists of tensors are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

UNARY = (
    *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1"),
    *("floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "reciprocal", "round"),
    *("rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)


def lists(library: Any, scale: float = 1.0) -> Any:
    rows = [[0.3, 0.9], [[0.25], [0.6]], 0.75]
    return [library.tensor(row, dtype=library.float64) * scale for row in rows]


@pytest.mark.parametrize("name", UNARY)
def test_one_list(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        tensors = [t.requires_grad_() for t in lists(library)]
        results = getattr(library, f"_foreach_{name}")(tensors)
        slopes = library.autograd.grad(sum(r.sum() for r in results), tensors, allow_unused=True)
        changed = lists(library)
        answer = getattr(library, f"_foreach_{name}_")(changed)
        detached = [r.detach() for r in results]
        return [type(results).__name__, detached, slopes, answer, changed]

    assert_same(behaviour, torch)


CALLS: dict[str, Any] = {
    "add": lambda lib, a, b, c: lib._foreach_add(a, b),
    "add, alpha": lambda lib, a, b, c: lib._foreach_add(a, b, alpha=2.0),
    "add, a number": lambda lib, a, b, c: lib._foreach_add(a, 3.0),
    "add, numbers": lambda lib, a, b, c: lib._foreach_add(a, [1.0, 2.0, 3.0]),
    "add, a tensor": lambda lib, a, b, c: lib._foreach_add(a, lib.tensor(2.0, dtype=lib.float64)),
    "sub": lambda lib, a, b, c: lib._foreach_sub(a, b, alpha=0.5),
    "mul": lambda lib, a, b, c: lib._foreach_mul(a, b),
    "mul, numbers": lambda lib, a, b, c: lib._foreach_mul(a, (1.0, 2.0, 3.0)),
    "mul, a tensor": lambda lib, a, b, c: lib._foreach_mul(a, lib.tensor(2.0, dtype=lib.float64)),
    "div": lambda lib, a, b, c: lib._foreach_div(a, b),
    "maximum": lambda lib, a, b, c: lib._foreach_maximum(a, b),
    "maximum, a number": lambda lib, a, b, c: lib._foreach_maximum(a, 0.5),
    "minimum, numbers": lambda lib, a, b, c: lib._foreach_minimum(a, [0.5, 0.1, 2.0]),
    "clamp_min": lambda lib, a, b, c: lib._foreach_clamp_min(a, 0.5),
    "clamp_max": lambda lib, a, b, c: lib._foreach_clamp_max(a, b),
    "pow": lambda lib, a, b, c: lib._foreach_pow(a, 3),
    "pow, lists": lambda lib, a, b, c: lib._foreach_pow(a, b),
    "pow of a number": lambda lib, a, b, c: lib._foreach_pow(2.0, a),
    "lerp": lambda lib, a, b, c: lib._foreach_lerp(a, b, 0.3),
    "lerp, weights": lambda lib, a, b, c: lib._foreach_lerp(a, b, c),
    "addcmul": lambda lib, a, b, c: lib._foreach_addcmul(a, b, c),
    "addcmul, value": lambda lib, a, b, c: lib._foreach_addcmul(a, b, c, value=0.5),
    "addcmul, values": lambda lib, a, b, c: lib._foreach_addcmul(a, b, c, [1.0, 2.0, 3.0]),
    "addcdiv, a tensor": lambda lib, a, b, c: lib._foreach_addcdiv(
        a, b, c, lib.tensor([1.0, 2.0, 3.0], dtype=lib.float64)
    ),
    "norm": lambda lib, a, b, c: lib._foreach_norm(a),
    "norm, infinite": lambda lib, a, b, c: lib._foreach_norm(a, float("inf")),
    "powsum": lambda lib, a, b, c: lib._foreach_powsum(a, 3),
    "max": lambda lib, a, b, c: lib._foreach_max(a),
    "clone": lambda lib, a, b, c: lib._foreach_clone(a),
    "add_": lambda lib, a, b, c: lib._foreach_add_(a, b, alpha=2.0),
    "mul_": lambda lib, a, b, c: lib._foreach_mul_(a, 2.0),
    "pow_": lambda lib, a, b, c: lib._foreach_pow_(a, 2.0),
    "lerp_": lambda lib, a, b, c: lib._foreach_lerp_(a, b, 0.1),
    "maximum_": lambda lib, a, b, c: lib._foreach_maximum_(a, b),
    "addcdiv_": lambda lib, a, b, c: lib._foreach_addcdiv_(a, b, c, value=-0.11),
    "copy_": lambda lib, a, b, c: lib._foreach_copy_(a, b),
    "copy_, non_blocking": lambda lib, a, b, c: lib._foreach_copy_(a, b, True),
    "zero_": lambda lib, a, b, c: lib._foreach_zero_(a),
    "empty": lambda lib, a, b, c: lib._foreach_add([], 1.0),
    "of another length": lambda lib, a, b, c: lib._foreach_add(a, b[:2]),
    "numbers of another length": lambda lib, a, b, c: lib._foreach_mul(a, [1.0]),
    "addcdiv, scalars": lambda lib, a, b, c: lib._foreach_addcdiv(a, b, c, scalars=[1.0, 2.0, 3.0]),
    "sub, a tensor": lambda lib, a, b, c: lib._foreach_sub(a, lib.tensor(2.0, dtype=lib.float64)),
    "div, a vector": lambda lib, a, b, c: lib._foreach_div(a, lib.tensor([2.0])),
    "maximum, a vector": lambda lib, a, b, c: lib._foreach_maximum(a, lib.tensor([2.0])),
    "pow, a vector": lambda lib, a, b, c: lib._foreach_pow(a, lib.tensor([2.0])),
    "no list": lambda lib, a, b, c: lib._foreach_mul(a[0], 2.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_lists(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        a, b, c = lists(library), lists(library, 1.5), lists(library, 0.5)
        return [attempt(lambda: CALLS[name](library, a, b, c)), a]

    assert_same(behaviour, torch)


def test_products(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        a = [library.ones(2, 3), library.arange(4.0).view(1, 4)]
        return library._foreach_mm(a, [t.t() for t in a])

    assert_same(behaviour, torch)
