"""Writes inside of transforms: what they capture must not be written to, the rest may be."""

import copy
import threading

import pytest

import gradspec as gs

WRITES = {
    "add_": lambda y, x: y.add_(x),
    "mul_ of a number": lambda y, x: y.mul_(2.0),
    "copy_": lambda y, x: y.copy_(x),
    "fill_": lambda y, x: y.fill_(2.0),
    "zero_": lambda y, x: y.zero_(),
    "item": lambda y, x: y.__setitem__(0, x[0]),
    "number at an item": lambda y, x: y.__setitem__(0, 5.0),
    "items": lambda y, x: y.__setitem__(gs.tensor([0, 1]), x[:2]),
    "index_put_": lambda y, x: y.index_put_((gs.tensor([0]),), x[:1]),
    "index_add_": lambda y, x: y.index_add_(0, gs.tensor([0, 1, 2]), x),
    "view": lambda y, x: y[1:].add_(1.0),
    "view of a view": lambda y, x: y.reshape(3, 1)[1:].zero_(),
    "detached": lambda y, x: y.detach().add_(1.0),
    "view of what is detached": lambda y, x: y.detach()[1:].add_(1.0),
    "data": lambda y, x: y.data.add_(1.0),
    "under no_grad": lambda y, x: gs.no_grad()(lambda: y.add_(1.0))(),
    "random": lambda y, x: y.normal_(),
    "set_": lambda y, x: y.set_(x.detach()),
    "resize_": lambda y, x: y.resize_(5),
    "unsqueeze_": lambda y, x: y.unsqueeze_(0),
    "detach_": lambda y, x: y.detach_(),
    "relu": lambda y, x: gs.nn.functional.relu(y, inplace=True),
}

TRANSFORMS = {
    "grad": lambda f, x: gs.func.grad(f)(x),
    "grad of grad": lambda f, x: gs.func.grad(lambda x: gs.func.grad(f)(x).sum())(x),
    "vjp": lambda f, x: gs.func.vjp(f, x),
    "jvp": lambda f, x: gs.func.jvp(f, (x,), (gs.ones(3),)),
    "jacrev": lambda f, x: gs.func.jacrev(f)(x),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("write", WRITES)
def test_a_captured_tensor_is_not_written_to(write, transform):
    captured = gs.tensor([0.5, 1.5, 2.5])

    def function(x):
        WRITES[write](captured, x)
        return (x * x).sum()

    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        TRANSFORMS[transform](function, gs.tensor([1.0, 2.0, 3.0]))
    assert captured.tolist() == [0.5, 1.5, 2.5]
    captured.add_(1.0)  # outside of transforms all is as it was
    assert captured.tolist() == [1.5, 2.5, 3.5]


@pytest.mark.parametrize("numbers", [True, False])
def test_what_vmap_calls_may_write_numbers_but_not_inside_of_grad(numbers):
    captured = gs.zeros(3)

    def function(x):
        captured.add_(1.0)
        return (x * captured).sum()

    rows = gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    if numbers:
        assert gs.func.vmap(function)(rows).tolist() == [6.0, 15.0]
        assert captured.tolist() == [1.0, 1.0, 1.0]
    else:
        with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
            gs.func.grad(lambda rows: gs.func.vmap(function)(rows).sum())(rows)


def test_what_is_made_inside_may_be_written_to():
    def function(x):
        total = gs.zeros(3)
        total[0] = x[1]
        total.add_(x * x)
        total[1:].mul_(2.0)
        copied = copy.deepcopy(gs.ones(3))
        copied.detach().mul_(3.0)
        made = [gs.ones(3) * 0, x.detach().clone(), gs.tensor([1.0, 2.0, 3.0]), gs.rand(3)]
        for each in made:
            each.fill_(1.0)
        return (total * copied * sum(made)).sum() / 4

    slope = gs.func.grad(function)(gs.tensor([1.0, 2.0, 3.0]))
    assert slope.tolist() == [6.0, 27.0, 36.0]


def test_other_arguments_may_be_written_to_until_the_transform_returns():
    buffer = gs.zeros(2)

    def function(x, buffer, *, named):
        buffer.add_(x.detach())
        named["it"][0] = 1.0
        return (x * buffer).sum()

    named = {"it": gs.zeros(2)}
    slope = gs.func.grad(function)(gs.tensor([1.0, 2.0]), buffer, named=named)
    assert slope.tolist() == buffer.tolist() == [1.0, 2.0]
    assert named["it"].tolist() == [1.0, 0.0]

    def outer(x):
        gs.func.grad(function)(x, buffer, named=named)
        buffer.zero_()
        return x.sum()

    with pytest.raises(RuntimeError, match=r"\(aten::zero_\) that would mutate a captured"):
        gs.func.grad(outer)(gs.tensor([1.0, 2.0]))


def test_an_inner_transform_captures_what_an_outer_one_made():
    def outer(x, inside):
        made = gs.zeros(2)
        if inside:
            gs.func.grad(lambda z: made.add_(1.0).sum() + z.sum())(x)
        inner = gs.func.grad(lambda z: (z * z).sum())(x)
        inner.add_(made)  # was made inside, as seen from here
        return inner.sum()

    assert gs.func.grad(lambda x: outer(x, False))(gs.ones(2)).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        gs.func.grad(lambda x: outer(x, True))(gs.ones(2))


def test_results_may_be_written_into_captured_tensors_with_out():
    captured = gs.zeros(3)

    def function(x):
        gs.mul(gs.ones(3), 2.0, out=captured)
        return (x * captured).sum()

    assert gs.func.grad(function)(gs.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_other_threads_write_while_a_transform_is_under_way():
    elsewhere = gs.zeros(2)

    def function(x):
        thread = threading.Thread(target=lambda: elsewhere.add_(gs.ones(2)))
        thread.start()
        thread.join()
        return x.sum()

    gs.func.grad(function)(gs.ones(2))
    assert elsewhere.tolist() == [1.0, 1.0]
