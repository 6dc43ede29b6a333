"""Classes that say themselves what an op does to them."""

from typing import ClassVar

import pytest

import gradspec as gs


class Logged(gs.Tensor):
    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs)


class Plain(gs.Tensor):
    pass


class Scaled:
    """No tensor, but it stands for one."""

    def __init__(self, value):
        self.value = value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is not gs.mul:
            return NotImplemented
        return ("mul", [kind.__name__ for kind in types], len(args))


@pytest.fixture(autouse=True)
def _no_calls():
    Logged.calls.clear()


def test_a_subclass_sees_the_ops():
    x = gs.tensor([1.0, 2.0], requires_grad=True)
    logged = x.as_subclass(Logged)
    y = (logged * 2 + 1).sum()
    assert type(y) is Logged
    y.backward()
    assert Logged.calls == ["mul", "add", "sum", "backward"]
    assert x.grad.tolist() == [2, 2]


def test_indexing_and_in_place_ops_are_seen_too():
    logged = gs.ones(3).as_subclass(Logged)
    assert type(logged[0]) is Logged
    assert logged.add_(1) is logged
    assert Logged.calls == ["getitem", "add_"]
    assert logged.tolist() == [2, 2, 2]


def test_a_subclass_without_override_is_kept():
    x = gs.ones(2).as_subclass(Plain)
    assert type(x * 2) is Plain
    assert type(gs.ones(2) * x) is Plain
    assert [type(part) for part in x.unbind()] == [Plain, Plain]
    with gs.overrides.DisableTorchFunctionSubclass():
        assert type(x * 2) is gs.Tensor


def test_other_classes_take_part():
    expected = ("mul", ["Scaled"], 2)
    assert gs.mul(Scaled(2), gs.ones(1)) == expected
    assert gs.ones(1) * Scaled(2) == expected
    with pytest.raises(TypeError, match="no implementation found for 'add'"):
        gs.add(gs.ones(1), Scaled(2))


def test_the_most_derived_class_is_asked_first():
    asked = []

    class Base:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(cls.__name__)
            return NotImplemented

    class Derived(Base):
        pass

    with pytest.raises(TypeError, match="NotImplemented: Derived, Base"):
        gs.stack([Base(), gs.ones(1), Derived()])
    assert asked == ["Derived", "Base"]


def test_what_has_an_override():
    x = gs.ones(1)
    assert not gs.overrides.has_torch_function_unary(x)
    assert gs.overrides.has_torch_function_unary(x.as_subclass(Plain))
    assert gs.overrides.has_torch_function((x, 1, Scaled(1)))
    assert not gs.overrides.has_torch_function_variadic(x, "text")
    with pytest.raises(TypeError, match="must be a subclass"):
        x.as_subclass(int)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.detach(),
        lambda x: x.data,
        lambda x: x.new_zeros(2),
        lambda x: x.new_ones(2),
        lambda x: x.new_empty(2),
        lambda x: x.new_full((2,), 1),
        lambda x: x.new_tensor([1.0]),
        lambda x: x.bernoulli(),
        lambda x: x.isreal(),
        lambda x: x.multinomial(1),
        lambda x: x.view(gs.int32),
        lambda x: x.geqrf()[0],
    ],
)
def test_methods_that_are_no_ops_keep_the_class(make):
    class Derived(Logged):
        pass

    x = gs.ones(2, 2)
    assert type(make(x)) is gs.Tensor
    assert type(make(x.as_subclass(Plain))) is Plain
    assert type(make(x.as_subclass(Derived))) is Derived
    assert len(Logged.calls) == 1


def test_a_method_of_the_class_itself_comes_first():
    class Own(gs.Tensor):
        def detach(self):
            return "own"

    class Further(Own):
        pass

    x = gs.ones(2).as_subclass(Further)
    assert x.detach() == "own"
    x.data = gs.zeros(2)
    assert x.data.tolist() == [0.0, 0.0]


def test_overrides_are_given_what_the_call_was():
    seen = []

    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((len(args), kwargs))

    x = Asked()
    gs.add(x, x)
    gs.add(x, x, alpha=2)
    gs.mm(x, x)
    gs.sum(x)
    gs.sum(x, dtype=gs.float64)
    assert seen == [(2, {}), (2, {"alpha": 2}), (2, {}), (1, {}), (1, {"dtype": gs.float64})]


def test_functions_of_users_that_overrides_take_over():
    @gs.overrides.wrap_torch_function(lambda value, other=1: (value,))
    def double(value, other=1):
        """Twice the value."""
        return value * 2

    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is double, args[1:], kwargs

    assert double(3) == 6
    assert double(Asked(), other=2) == (True, (), {"other": 2})
    assert double.__doc__ == "Twice the value."
    likes = [gs.ones(1), gs.ones(1).as_subclass(Plain), Asked(), 1, "text"]
    assert list(map(gs.overrides.is_tensor_like, likes)) == [True, True, True, False, False]
