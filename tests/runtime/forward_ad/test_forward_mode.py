"""Duals carry tangents through ops by their JVPs; levels nest."""

import threading
from typing import NamedTuple

import numpy as np
import pytest

from gradspec.autograd.forward_ad import dual_level, make_dual, unpack_dual
from gradspec.core.tensor import Tensor, wrap
from gradspec.dispatch.absent import zeros_if_absent
from gradspec.dispatch.dispatch import dispatch
from gradspec.dispatch.registry import BY_NAME, OPS, Op, import_all, register


def mul(input, other):
    if type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(mul, input, other)
    return wrap(input.array * other.array)


def add(input, other):
    if type(input) is not Tensor or type(other) is not Tensor:
        return dispatch(add, input, other)
    return wrap(input.array + other.array)


def split_sign(input):
    if type(input) is not Tensor:
        return dispatch(split_sign, input)
    return wrap(np.abs(input.array)), wrap(input.array < 0)


def total(tensors, scale):
    if any(type(tensor) is not Tensor for tensor in tensors):
        return dispatch(total, tensors, scale)
    return wrap(scale * sum(tensor.array for tensor in tensors))


def no_jvp(input):
    return dispatch(no_jvp, input) if type(input) is not Tensor else wrap(input.array)


def mul_jvp(self, other, self_t, other_t):
    by_self = None if self_t is None else mul(self_t, other)
    return add_jvp(by_self, None if other_t is None else mul(self, other_t))


def add_jvp(self_t, other_t):
    if self_t is None or other_t is None:
        return other_t if self_t is None else self_t
    return add(self_t, other_t)


def split_sign_jvp(self, self_t):
    return mul(self_t, wrap(np.sign(self.array))), None


def total_jvp(tensors, scale, tensors_t):
    return total(zeros_if_absent(tensors_t, tensors), scale)


@pytest.fixture(autouse=True)
def _ops():
    binary = "Tensor input, Tensor other"
    import_all()  # a family that a test imports would not be registered again
    before = dict(OPS), dict(BY_NAME)
    register(
        Op("test_mul", mul, binary, ("input", "other"), mul_jvp),
        Op("test_add", add, binary, ("input", "other"), add_jvp),
        Op("test_split_sign", split_sign, "Tensor input", (), split_sign_jvp),
        Op("test_total", total, "Tensor[] tensors, float scale", (), total_jvp),
        Op("test_no_jvp", no_jvp, "Tensor input"),
    )
    yield
    for found, known in zip((OPS, BY_NAME), before, strict=True):
        found.clear()
        found.update(known)


def vector(*values) -> Tensor:
    return wrap(np.array(values, np.float64))


def values(tensor: Tensor | None) -> list[float]:
    assert type(tensor) is Tensor
    return tensor.tolist()


def test_product_rule():
    with dual_level():
        x = make_dual(vector(2.0, 3.0), vector(1.0, 0.5))
        y = make_dual(vector(5.0, 7.0), vector(10.0, 20.0))
        primal, tangent = unpack_dual(mul(x, y))
    assert values(primal) == [10.0, 21.0]
    assert values(tangent) == [2 * 10 + 5 * 1, 3 * 20 + 7 * 0.5]


def test_operand_without_tangent_counts_as_constant():
    with dual_level():
        x = make_dual(vector(2.0), vector(1.0))
        assert values(unpack_dual(mul(x, vector(5.0))).tangent) == [5.0]
        assert values(unpack_dual(mul(vector(5.0), x)).tangent) == [5.0]


def test_numbers_are_lifted_to_the_dtype_of_the_dual():
    with dual_level():
        x = make_dual(wrap(np.ones(2, np.float32)), wrap(np.ones(2, np.float32)))
        primal, tangent = unpack_dual(mul(x, 3))
    assert values(tangent) == [3.0, 3.0]
    assert primal.dtype == tangent.dtype == np.float32


def test_output_that_is_not_differentiable_is_a_plain_tensor():
    with dual_level():
        magnitude, negative = split_sign(make_dual(vector(2.0, -3.0), vector(1.0, 1.0)))
        assert values(unpack_dual(magnitude).tangent) == [1.0, -1.0]
        assert type(negative) is Tensor


class Magnitude(NamedTuple):
    values: Tensor
    negative: Tensor


def named(input):
    if type(input) is not Tensor:
        return dispatch(named, input)
    return Magnitude(*split_sign(input))


def test_named_results_stay_named(monkeypatch):
    op = Op("test_named", named, "Tensor input", (), split_sign_jvp)
    monkeypatch.setitem(OPS, named, op)
    with dual_level():
        found = named(make_dual(vector(2.0, -3.0), vector(1.0, 1.0)))
        assert type(found) is Magnitude
        assert values(unpack_dual(found.values).tangent) == [1.0, -1.0]


def test_lists_of_tensors():
    with dual_level():
        x = make_dual(vector(2.0), vector(1.0))
        primal, tangent = unpack_dual(total([x, vector(5.0), x], 10.0))
    assert values(primal) == [90.0]
    assert values(tangent) == [20.0]


def test_op_without_jvp_is_an_error():
    with dual_level(), pytest.raises(RuntimeError, match="forward AD with test_no_jvp"):
        no_jvp(make_dual(vector(1.0), vector(1.0)))


def test_tangents_are_gone_after_the_level():
    with dual_level():
        x = make_dual(vector(2.0), vector(1.0))
    assert unpack_dual(x).tangent is None
    assert type(mul(x, x)) is Tensor
    assert type(no_jvp(x)) is Tensor
    with dual_level():
        assert unpack_dual(x).tangent is None
        assert values(unpack_dual(make_dual(x, vector(4.0))).tangent) == [4.0]


def test_levels_nest():
    """d²(x³)/dx² = 6x, the tangent of a tangent."""
    with dual_level():
        outer = make_dual(vector(2.0), vector(1.0))
        with dual_level():
            x = make_dual(outer, vector(1.0))
            first = unpack_dual(mul(mul(x, x), x)).tangent
        assert values(unpack_dual(first).primal) == [12.0]
        assert values(unpack_dual(first).tangent) == [12.0]


def test_nested_levels_do_not_confuse_perturbations():
    """d/dx (x · d/dy (x + y)) = 1, not 2."""
    with dual_level():
        x = make_dual(vector(3.0), vector(1.0))
        with dual_level():
            inner = unpack_dual(add(x, make_dual(vector(1.0), vector(1.0)))).tangent
        assert values(unpack_dual(mul(x, inner)).tangent) == [1.0]


def test_dual_keeps_its_place_in_the_backward_graph():
    x = vector(2.0).requires_grad_()
    with dual_level():
        dual = make_dual(x, vector(1.0))
        assert dual.requires_grad
        assert dual.grad_node is x.grad_node
        assert np.shares_memory(dual.array, x.array)


def test_levels_belong_to_a_thread():
    seen = []
    with dual_level():
        x = make_dual(vector(2.0), vector(1.0))
        thread = threading.Thread(target=lambda: seen.append(unpack_dual(x).tangent))
        thread.start()
        thread.join()
        assert unpack_dual(x).tangent is not None
    assert seen == [None]


@pytest.mark.parametrize(
    ("primal", "tangent", "error", "words"),
    [
        (np.ones(2), np.ones(3), RuntimeError, "different size"),
        (np.ones(2, int), np.ones(2), ValueError, "Expected primal to be floating point"),
        (np.ones(2), np.ones(2, int), ValueError, "Expected tangent to be floating point"),
    ],
)
def test_what_cannot_be_dual(primal, tangent, error, words):
    with dual_level(), pytest.raises(error, match=words):
        make_dual(wrap(primal), wrap(tangent))


def test_make_dual_errors_about_levels():
    x = vector(1.0)
    with pytest.raises(RuntimeError, match="no level exists"):
        make_dual(x, x)
    with dual_level():
        dual = make_dual(x, x)
        with pytest.raises(RuntimeError, match="already has a forward gradient"):
            make_dual(dual, x)
        with pytest.raises(TypeError, match="tangent must be a Tensor, not float"):
            make_dual(x, 1.0)
