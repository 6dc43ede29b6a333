"""One name, several ops: the one that accepts the arguments is called."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.core.tensor import wrap
from gradspec.dispatch.overloads import overloaded, variadic
from gradspec.dispatch.registry import BY_NAME, OPS, Op, Param, import_all, ops, register, table_op


def op(name: str, signature: str, promotes=()):
    """A registered op that answers with its name and its arguments."""

    def function(*args, **kwargs):
        return name, args, kwargs

    register(Op(name, function, signature, promotes))
    return function


@pytest.fixture(autouse=True)
def _ops():
    import_all()  # a family that a test imports would not be registered again
    before = dict(OPS), dict(BY_NAME)
    yield
    for found, known in zip((OPS, BY_NAME), before, strict=True):
        found.clear()
        found.update(known)


@pytest.fixture
def power():
    return overloaded(
        "power",
        op("power.Tensor_Tensor", "Tensor input, Tensor exponent", ("input", "exponent")),
        op("power.Tensor_Scalar", "Tensor input, Scalar exponent"),
        op("power.Scalar", "Scalar input, Tensor exponent", ("exponent",)),
    )


@pytest.fixture
def total():
    dims = "Tensor input, int[1]? dim, bool keepdim=..., *, ScalarType? dtype=..."
    return overloaded(
        "total",
        op("total", "Tensor input, *, ScalarType? dtype=..."),
        op("total.dims", dims),
    )


def vector():
    return wrap(np.ones(2))


def zero_dim():
    return wrap(np.array(2.0))


def chosen(function, *args, **kwargs) -> str:
    """The op that is called, the first time and once it is remembered."""
    first, second = (function(*args, **kwargs) for _ in range(2))
    assert first == second
    assert first[1] == args
    assert first[2] == kwargs
    return first[0]


def test_tensors_and_numbers(power):
    assert chosen(power, vector(), vector()) == "power.Tensor_Tensor"
    assert chosen(power, vector(), 2) == "power.Tensor_Scalar"
    assert chosen(power, vector(), np.float32(2)) == "power.Tensor_Scalar"
    assert chosen(power, 2, vector()) == "power.Scalar"
    assert chosen(power, True, vector()) == "power.Scalar"
    assert chosen(power, input=2.5, exponent=vector()) == "power.Scalar"
    # A complex number among real tensors is lifted: only tensors are proved with complex values.
    assert chosen(power, vector(), exponent=2j) == "power.Tensor_Tensor"


def test_arrays_stand_for_tensors(power):
    first = power(np.ones(2), vector())
    assert first[0] == "power.Tensor_Tensor"


def test_number_for_a_tensor_where_no_overload_takes_numbers():
    plus = overloaded(
        "plus",
        op("plus.Tensor", "Tensor input, Tensor other", ("input", "other")),
        op("plus.None", "Tensor input"),
    )
    assert chosen(plus, vector(), 2) == "plus.Tensor"


def test_dims(total):
    assert chosen(total, vector()) == "total"
    assert chosen(total, vector(), dtype=np.dtype(float)) == "total"
    for dim in (0, (0, 1), [0, 1], (), None):
        assert chosen(total, vector(), dim) == "total.dims"
        assert chosen(total, vector(), dim=dim, keepdim=True) == "total.dims"


def test_what_lists_hold_decides():
    pick = overloaded(
        "pick",
        op("pick.ints", "int[] values"),
        op("pick.floats", "float[] values"),
        op("pick.tensors", "Tensor[] values"),
        op("pick.optional", "Tensor?[] values"),
    )
    for _ in range(2):
        assert pick([1, 2])[0] == "pick.ints"
        assert pick([1, 2.5])[0] == "pick.floats"
        assert pick([vector(), vector()])[0] == "pick.tensors"
        assert pick([vector(), None])[0] == "pick.optional"


def test_zero_dim_tensor_for_a_number_depends_on_its_value():
    scaled = overloaded("scaled", op("scaled", "Tensor input, Scalar factor"))
    assert scaled(vector(), zero_dim())[0] == "scaled"
    for refused in (vector(), zero_dim().requires_grad_()):
        with pytest.raises(TypeError, match="invalid combination"):
            scaled(vector(), refused)


def test_bool_is_not_an_int(total):
    with pytest.raises(TypeError, match=r"got \(Tensor, bool\)"):
        total(vector(), True)


def test_error_lists_the_signatures(total):
    with pytest.raises(TypeError) as caught:
        total(vector(), dim=["a"], keepdim=1)
    assert str(caught.value) == (
        "total() received an invalid combination of arguments - "
        "got (Tensor, dim=list of [str], keepdim=int), but expected one of:\n"
        " * (Tensor input, *, dtype dtype = None)\n"
        " * (Tensor input, tuple of ints dim, bool keepdim = ..., *, dtype dtype = None)\n"
    )


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {}),
        (("a",), {}),
        ((1, 2, 3, 4), {}),
        ((vector(),), {"other": 1}),
        ((vector(), 0), {"dim": 0}),
    ],
)
def test_wrong_calls(total, args, kwargs):
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        total(*args, **kwargs)


def test_name_and_documentation():
    def first():
        """First."""

    def second():
        """Second."""

    function = overloaded("both", first, second)
    assert function.__name__ == "both"
    assert function.__doc__ == "First.\n\nSecond."


def test_variadic():
    @variadic
    def view(self, size, implicit=False):
        return self, size, implicit

    assert view("x", 2, 3) == ("x", (2, 3), False)
    assert view("x", (2, 3)) == ("x", (2, 3), False)
    assert view("x", 2, 3, implicit=True) == ("x", (2, 3), True)
    assert view("x", size=[2]) == ("x", [2], False)
    with pytest.raises(TypeError, match="size"):
        view("x")
    assert view("x", np.int64(2)) == ("x", (2,), False)
    assert view.__name__ == "view"


def test_signatures_are_read():
    made = Op("made", op, "Tensor input, int[1]? dim=..., *, Scalar alpha, Tensor?[] rest=...")
    assert made.params == (
        Param("input", "Tensor"),
        Param("dim", "int[1]?", required=False),
        Param("alpha", "Scalar", keyword_only=True),
        Param("rest", "Tensor?[]", keyword_only=True, required=False),
    )
    assert Op("none", op, "").params == ()


def test_a_name_is_taken_once():
    first = op("taken.once", "Tensor input")
    with pytest.raises(ValueError, match="is already registered"):
        op("taken.once", "Tensor other")
    assert BY_NAME["taken.once"].function is first
    assert table_op("taken") is first


def test_attributes_of_ops_choose_among_overloads() -> None:
    matrix = gs.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.sum(matrix).item() == 10.0
    assert ops.sum(matrix, 0).tolist() == [4.0, 6.0]
    assert ops.max(matrix, matrix.t()).tolist() == [[1.0, 3.0], [3.0, 4.0]]
    assert [part.tolist() for part in ops.split(gs.tensor([1, 2, 3]), [1, 2])] == [[1], [2, 3]]
