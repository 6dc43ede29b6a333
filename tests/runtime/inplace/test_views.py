"""In-place ops on views: base and views share one history, as in PyTorch."""

import gc
import weakref

import numpy as np
import pytest

import gradspec as gs


def leaf(*values: float) -> gs.Tensor:
    return gs.tensor(list(values), dtype=gs.float32, requires_grad=True)


def names(node, depth=3):
    """The graph below a node, by class names."""
    if node is None:
        return None
    below = [names(grad_node, depth - 1) for grad_node, _ in node.next_functions] if depth else []
    return (type(node).__name__, below)


def test_a_view_knows_its_base():
    x = leaf(1, 2, 3, 4)
    rows = x.view(2, 2)
    assert rows._base is x
    assert rows[0]._base is x
    assert x._base is None
    assert not x.detach()._is_view()
    assert gs.ones(2, 3).t().reshape(-1)._base is None


def test_a_write_through_a_view_reaches_the_base():
    x = leaf(1, 2, 3, 4)
    y = x * 2
    y[:2].mul_(3)
    assert y.tolist() == [6, 12, 6, 8]
    assert names(y.grad_fn, 0)[0] == "CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [6, 6, 2, 2]


def test_a_write_into_the_base_reaches_the_views():
    x = leaf(1, 2, 3, 4)
    y = x * 2
    view = y.view(2, 2)
    y.mul_(x)
    assert names(view.grad_fn, 1) == ("AsStridedBackward0", [("MulBackward0", [])])
    view[1].sum().backward()
    assert x.grad.tolist() == [0, 0, 12, 16]


def test_a_base_without_gradient_gets_one_by_a_write_through_a_view():
    x = leaf(5)
    y = gs.zeros(3)
    y[1:2].add_(x)
    assert y.requires_grad
    (y * gs.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2]


@pytest.mark.parametrize("make", [lambda y: y.t(), lambda y: y[:, 1], lambda y: y[::2, None, 1:]])
def test_second_derivatives_go_through_a_written_view(make):
    def function(x):
        y = x * x
        make(y).mul_(make(x))
        return y

    x = gs.randn(3, 4, dtype=gs.float64, requires_grad=True)
    assert gs.autograd.gradcheck(function, x)
    assert gs.autograd.gradgradcheck(function, x)


def test_assignment_by_index_is_recorded():
    x = leaf(1, 2, 3)
    y = x * 2
    y[0] = x[2] * 10
    y[1] += x[0]
    y[gs.tensor([2])] = 7.0
    assert y.tolist() == [30, 5, 7]
    y.sum().backward()
    # y = [10 x2, 2 x1 + x0, 7]
    assert x.grad.tolist() == [1, 2, 10]


@pytest.mark.parametrize(
    ("write", "expected"),
    [
        (lambda y, x: y.zero_(), [0, 0, 0]),
        (lambda y, x: y.fill_(3), [0, 0, 0]),
        (lambda y, x: y.fill_(x[1]), [0, 3, 0]),
        (lambda y, x: y.copy_(x * 5), [5, 5, 5]),
        (lambda y, x: y.copy_(x[:1]), [3, 0, 0]),
        (lambda y, x: y.add_(x, alpha=3), [5, 5, 5]),
        (lambda y, x: y.masked_fill_(x > 1.5, 0), [2, 0, 0]),
        (lambda y, x: y.index_put_([gs.tensor([0, 1])], x[2]), [0, 0, 4]),
        (lambda y, x: y.index_put_([gs.tensor([1, 1])], x[:2], accumulate=True), [3, 3, 2]),
        (lambda y, x: y.normal_(), [0, 0, 0]),
        (lambda y, x: y.uniform_(), [0, 0, 0]),
    ],
)
def test_what_is_overwritten_gets_no_gradient(write, expected):
    x = leaf(1, 2, 3)
    y = x * 2
    write(y, x)
    y.sum().backward()
    assert x.grad.tolist() == expected


def test_overwriting_with_indices_has_second_derivatives():
    def function(x):
        y = x**3
        y[gs.tensor([2, 0])] = x[1:] ** 2
        return y

    x = leaf(1, 2, 3).double().detach().requires_grad_()
    assert gs.autograd.gradgradcheck(function, x)


def test_views_of_leaves_are_refused():
    x = leaf(1, 2)
    for write in (lambda: x[0].add_(1), lambda: x.view(2).zero_(), lambda: x.__setitem__(0, 1)):
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            write()


def test_a_view_made_without_grad_is_refused():
    x = leaf(1, 2)
    y = x * 2
    with gs.no_grad():
        view = y[:1]
    assert view.is_leaf
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        view.add_(1)
    y.add_(1)
    with pytest.raises(RuntimeError, match="no_grad mode and its base"):
        view * 2
    with gs.no_grad():
        assert (view * 2).tolist() == [6]


def test_expanded_memory_is_refused():
    with pytest.raises(RuntimeError, match="single memory location"):
        gs.ones(2, 1).expand(2, 3).add_(1)


def test_a_number_may_be_written_to_expanded_memory():
    x, one = gs.ones(2, 1), gs.tensor(1.0)
    x.expand(2, 3).fill_(5)
    one.expand(2).zero_()
    assert (x.tolist(), one.item()) == ([[5], [5]], 0)


def test_what_overlaps_in_part_is_refused():
    x = gs.ones(4)
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        x[1:].add_(x[:3])
    with pytest.raises(RuntimeError, match="some elements of the input tensor"):
        x[gs.tensor([0, 1, 2, 3])] = x
    x.view(1, 4).add_(x[None])
    assert x.tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    "write",
    [
        lambda y: y.add_(1),
        lambda y: y.detach().add_(1),
        lambda y: y[0].mul_(2),
        lambda y: y.detach_().zero_(),
        lambda y: y.__setitem__(0, 0.0),
    ],
)
def test_a_saved_result_that_was_modified_is_noticed(write):
    x = leaf(1, 2)
    y = gs.exp(x)
    total = y.sum()
    write(y)
    words = r"\[FloatTensor \[2\]\], which is output 0 of ExpBackward0, is at version 1; expected"
    with pytest.raises(RuntimeError, match=words):
        total.backward()


def test_a_result_saved_by_an_in_place_op_is_watched_too():
    x = leaf(1, 2)
    y = (x * 2).exp_()
    y.sum().backward(retain_graph=True)
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"at version 2; expected version 1 instead. Hint"):
        y.sum().backward()
    z = x * 2
    z[:1].exp_()
    z.add_(1)
    with pytest.raises(RuntimeError, match="is at version 2; expected version 1 instead"):
        z.sum().backward()


def test_data_is_not_counted():
    x = leaf(1, 2)
    y = gs.exp(x)
    y.data.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert not y.data.requires_grad
    x.data = gs.tensor([7.0])
    assert x.tolist() == [7]
    assert x.requires_grad
    with pytest.raises(RuntimeError, match="must be floating point"):
        x.data = gs.tensor([7])


def test_detach_in_place():
    x = leaf(1, 2)
    y = x * 2
    assert y.detach_() is y
    assert (y.is_leaf, y.requires_grad) == (True, False)
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (x * 2)[:1].detach_()


def test_retain_grad_follows_an_in_place_op():
    x = leaf(1)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1]
    assert x.grad.tolist() == [6]


def test_a_hook_stays_with_the_value_it_was_registered_for():
    x = leaf(1)
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.mul_(3)
    y.backward()
    assert seen == [[3]]


def test_views_and_bases_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = leaf(1, 2)
        y = gs.exp(x)
        view = y[:1]
        view.mul_(2)
        watched = [weakref.ref(t) for t in (x, y, view, y.grad_fn, view.grad_fn)]
        del x, y, view
        assert [ref() for ref in watched] == [None] * 5
    finally:
        gc.enable()


def test_many_views_of_one_tensor_do_not_pile_up():
    x = gs.zeros(4)
    for _ in range(1000):
        x[0]
    assert len(x.alias.views) < 50


def test_reversed_memory_has_the_right_region():
    x = leaf(1, 2, 3)
    y = gs.from_numpy(np.arange(6.0, dtype=np.float32)[::-2])
    y[1:].mul_(x[1:])
    assert y.tolist() == [5, 6, 3]
    y.sum().backward()
    assert x.grad.tolist() == [0, 3, 1]


PROGRAMS = {
    "write through a view": lambda t, x, y: y[1:3].mul_(x[:2]),
    "write through a view of a view": lambda t, x, y: y.view(2, 2)[0].add_(x[2:]),
    "write into the base of a view": lambda t, x, y: (y.view(2, 2), y.mul_(x))[0],
    "assign a number": lambda t, x, y: y.__setitem__(0, 3.0),
    "assign a tensor": lambda t, x, y: y.__setitem__(slice(1, 3), x[:2]),
    "assign everything": lambda t, x, y: y.__setitem__(slice(None), x),
    "assign with a mask": lambda t, x, y: y.__setitem__(y > 1, 0.0),
    "assign with positions": lambda t, x, y: y.__setitem__(t.tensor([0, 2]), x[:2]),
    "add to positions": lambda t, x, y: y.__setitem__(t.tensor([0, 2]), y[t.tensor([0, 2])] + x[0]),
    "zero, then fill": lambda t, x, y: y.zero_().fill_(x.sum()),
    "copy": lambda t, x, y: y.copy_(x),
    "exp": lambda t, x, y: y[1:].exp_(),
    "clone first": lambda t, x, y: y.clone().t(),
    "write without grad": lambda t, x, y: (y.view(2, 2), t.no_grad()(y.add_)(1))[0],
}


@pytest.mark.oracle
@pytest.mark.parametrize("what", PROGRAMS)
def test_graph_and_gradient_are_torchs(torch, what):
    found = []
    for library in (gs, torch):
        x = library.tensor([0.5, 1.0, 2.0, 3.0], requires_grad=True)
        y = x * 1.5
        extra = PROGRAMS[what](library, x, y)
        views = [extra] if extra is not None else []
        total = sum((item.reshape(-1) * item.reshape(-1)).sum() for item in [y, *views])
        (grad,) = library.autograd.grad(total, x)
        graphs = [names(item.grad_fn) for item in [y, *views]]
        found.append((graphs, y.tolist(), y._version, grad.tolist()))
    assert found[0][:3] == found[1][:3]
    np.testing.assert_allclose(found[0][3], found[1][3], rtol=1e-6)


def test_a_part_of_an_expanded_tensor_can_be_written_to():
    x = gs.zeros(1, 3)
    x.expand(2, 3)[0].add_(1)
    x.expand(2, 3)[1, 2] = 5.0
    assert x.tolist() == [[1.0, 1.0, 5.0]]


def test_a_whole_expanded_tensor_cannot():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gs.zeros(1, 3).expand(2, 3).add_(1)


def test_a_stale_view_has_no_gradient_to_offer():
    base = gs.ones(2, requires_grad=True) * 1
    view = base.unbind()[0]
    base.mul_(2)
    assert repr(view) == "tensor(2., grad_fn=<Invalid>)"
    for use in (
        lambda: view.register_hook(print),
        lambda: view.retain_grad(),
        lambda: view.backward(),
        lambda: gs.zeros(1).copy_(view),
        lambda: gs.zeros(1).__setitem__(0, view),
    ):
        with pytest.raises(RuntimeError, match="modified inplace"):
            use()
    with gs.no_grad():
        assert (view * 2).tolist() == 4.0
