"""Operators of tensors beside objects that are none, and of shapes."""

import operator

import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same

ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"} | {
    name: f"r{name}" for name in ARITHMETIC
}


class Answering:
    """An object that answers every operator from the right with the operator's name."""


for _name, _reflected in REFLECTED.items():
    setattr(Answering, f"__{_reflected}__", lambda self, other, name=_name: name)


def apply(name, *operands):
    return getattr(operator, f"__{name}__")(*operands)


@pytest.mark.parametrize("name", REFLECTED)
def test_the_other_object_is_asked(name):
    assert apply(name, gs.ones(2), Answering()) == name


@pytest.mark.parametrize("name", ARITHMETIC)
def test_the_other_object_is_asked_in_the_place_of_a_write(name):
    assert apply(f"i{name}", gs.ones(2), Answering()) == name


@pytest.mark.parametrize("other", [object(), None, [1.0], {}])
@pytest.mark.parametrize("name", REFLECTED)
def test_what_is_no_operand_is_refused_from_both_sides(name, other):
    words = "not supported between|unsupported operand|can be converted|can only concatenate"
    with pytest.raises(TypeError, match=words):
        apply(name, gs.ones(2), other)
    with pytest.raises(TypeError, match=words):
        apply(name, other, gs.ones(2))


def test_a_function_refuses_what_its_operator_leaves_to_the_other_object():
    for function in (gs.add, gs.sub, gs.mul, gs.remainder, gs.pow, gs.bitwise_and, gs.lt):
        with pytest.raises(TypeError, match=r"must be Tensor|invalid combination"):
            function(gs.ones(2), Answering())


def test_errors_about_operands_stay():
    with pytest.raises(RuntimeError, match="size of tensor a"):
        gs.ones(2) + gs.ones(3)
    with pytest.raises(NotImplementedError):
        gs.ones(2) & 1.5
    with pytest.raises(RuntimeError, match="Subtraction"):
        gs.tensor([True]) - gs.tensor([True])


def test_an_operator_records_what_its_function_records():
    x = gs.ones(2, requires_grad=True)
    for found in (x + x, x + 1, 2 - x, x % 2, x**2, x @ x, 1 / x, x < 1):
        assert found.requires_grad is (found.dtype != gs.bool)
    assert type((x + x).grad_fn) is type(gs.add(x, x).grad_fn)


@pytest.mark.oracle
def test_sums_and_slices_of_shapes_are_shapes(torch):
    def behaviour(library):
        shape = library.ones(2, 3).shape
        sums = [shape + shape, (*shape, 1), shape + (1,), (1,) + shape, shape * 2, 2 * shape]  # noqa: RUF005
        slices = [shape[1:], shape[:], shape[::-1], shape[5:]]
        return [(type(found).__name__, tuple(found)) for found in sums + slices]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("other", [[1], 1, 1.5])
def test_a_shape_adds_tuples_alone(other):
    with pytest.raises(TypeError):
        gs.ones(2, 3).shape + other
