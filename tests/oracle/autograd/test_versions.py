"""Writes to tensors that are recorded, saved, or views: as in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]


def refused(call):
    """Return whether a call is refused, and with which of the words that programs look for."""
    known = (
        *("leaf Variable", "is a view", "modified by an inplace operation", "expected version"),
        *("multiple views", "custom Function", "inference", "more than one element"),
    )
    try:
        call()
    except RuntimeError as error:
        return [words for words in known if words in str(error)]
    return "accepted"


def counts(lib):
    x = lib.ones(3)
    found = [x._version]
    x.add_(1)
    found.append(x._version)
    view = x[:2]
    view.mul_(2)
    found += [x._version, view._version]
    x.detach().zero_()
    found.append(x._version)
    x.data.add_(1)
    found.append(x._version)
    x[0] = 5
    found.append(x._version)
    clone = x.clone()
    clone.add_(1)
    return found, clone._version, x._version


def saved_and_written(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    return refused(lambda: z.sum().backward())


def saved_result_and_written(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.exp()
    y.add_(1)
    return refused(lambda: y.sum().backward())


def not_saved_and_written(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 2
    z = y + y
    y.add_(1)
    z.sum().backward()
    return x.grad


def saved_and_written_through_a_view(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    z = y.sin()
    y[:1].zero_()
    return refused(lambda: z.sum().backward())


def saved_and_written_through_data(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    z = y * y
    y.data.zero_()
    z.sum().backward()
    return x.grad


def saved_and_written_through_detach(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    z = y * y
    y.detach().zero_()
    return refused(lambda: z.sum().backward())


def of_leaves(lib):
    x = leaf(lib, 1.0, 2.0)
    return (
        refused(lambda: x.add_(1)),
        refused(lambda: x[0].add_(1)),
        refused(lambda: x.view(2).mul_(2)),
        refused(lambda: x.__setitem__(0, 1.0)),
        refused(lambda: x.detach().add_(1)),
        refused(lambda: x.data.add_(1)),
        x.detach(),
    )


def of_leaves_under_no_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.no_grad():
        x.add_(1)
        x[0] = 7
    (x * x).sum().backward()
    return x.grad, x._version


def requires_grad_by_a_write(lib):
    x, w = lib.ones(2, dtype=lib.float64), leaf(lib, 3.0, 4.0)
    x.mul_(w)
    inner = x.grad_fn is not None
    x.sum().backward()
    return inner, x.is_leaf, w.grad


def base_requires_grad_by_a_write_to_a_view(lib):
    x, w = lib.ones(2, 2, dtype=lib.float64), leaf(lib, 3.0, 4.0)
    x[0].mul_(w)
    x[:, 1].add_(w)
    (x * x).sum().backward()
    return x.requires_grad, w.grad


def chain_of_views(lib):
    x = leaf(lib, 1.0, 2.0, 3.0, 4.0)
    y = x * 1
    view = y.view(2, 2)
    inner = view[1].t() if view.ndim > 2 else view[1]
    inner.mul_(10)
    (y * y).sum().backward()
    return x.grad, view.grad_fn, inner.grad_fn


def sibling_views(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    a, b = y.view(2), y[:1]
    a.mul_(3)
    (b * b).sum().backward()
    return x.grad, b


def outputs_of_a_split(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    return [
        refused(lambda: y.split(1)[0].add_(1)),
        refused(lambda: y.unbind()[0].add_(1)),
        refused(lambda: y.chunk(2)[1].mul_(2)),
        refused(lambda: lib.unbind(y)[0].__setitem__(..., 1.0)),
    ]


def outputs_of_a_split_under_no_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    with lib.no_grad():
        part = y.split(1)[0]
    return refused(lambda: part.add_(1)), y


def outputs_of_a_split_of_constants(lib):
    x = lib.ones(2, dtype=lib.float64)
    a, b = x.split(1)
    a.mul_(leaf(lib, 5.0).detach())
    return x, refused(lambda: b.mul_(leaf(lib, 2.0)))


def view_under_no_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    with lib.no_grad():
        view = y[:1]
    return refused(lambda: view.add_(1)), view.requires_grad, view.is_leaf


def view_of_a_leaf_under_no_grad(lib):
    x = leaf(lib, 1.0, 2.0)
    with lib.no_grad():
        view = x[:1]
        view.add_(1)
    return refused(lambda: view.mul_(2)), x


def view_in_a_custom_function(lib):
    class View(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(2)

    y = leaf(lib, 1.0, 2.0) * 1
    return refused(lambda: View.apply(y).add_(1))


def several_outputs_of_a_custom_function(lib):
    class Two(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:1], x[1:]

        @staticmethod
        def backward(ctx, a, b):
            return lib.cat([a, b])

    y = leaf(lib, 1.0, 2.0) * 1
    return refused(lambda: Two.apply(y)[0].add_(1))


def dtype_that_does_not_fit(lib):
    x = lib.ones(2, dtype=lib.int64)
    return (
        attempt(lambda: x.add_(1.5)),
        attempt(lambda: x.mul_(lib.ones(2))),
        attempt(lambda: lib.ones(2).add_(lib.ones(2, dtype=lib.float64))),
        attempt(lambda: x.bitwise_and_(True) if hasattr(x, "bitwise_and_") else None),
        attempt(lambda: lib.ones(2).div_(lib.ones(2, dtype=lib.complex64))),
    )


def shape_that_does_not_fit(lib):
    x = lib.ones(2)
    return (
        attempt(lambda: x.add_(lib.ones(3))),
        attempt(lambda: x.add_(lib.ones(3, 2))),
        attempt(lambda: x.copy_(lib.ones(2, 2))),
        attempt(lambda: x.__setitem__(0, lib.ones(2))),
        attempt(lambda: x.add_(lib.ones(1))),
    )


def expanded(lib):
    x = lib.ones(1, 2).expand(3, 2)
    return refused(lambda: x.add_(1)), refused(lambda: x[0].add_(1)), x


def copied_into(lib):
    x, source = leaf(lib, 1.0, 2.0), leaf(lib, 5.0, 6.0)
    y = x * 2
    y.copy_(source * 3)
    y.sum().backward()
    return x.grad, source.grad


def written_by_index(lib):
    x, source = leaf(lib, 1.0, 2.0, 3.0), leaf(lib, 5.0)
    y = x * 2
    y[1:2] = source
    y[lib.tensor([0])] = source * 2
    (y * y).sum().backward()
    return x.grad, source.grad


def written_by_mask(lib):
    x = leaf(lib, 1.0, -2.0, 3.0)
    y = x * 2
    y[y < 0] = 0
    y.sum().backward()
    return x.grad


def requires_grad_turned_on_and_off(lib):
    x = leaf(lib, 1.0)
    y = x * 2
    return (
        attempt(lambda: y.requires_grad_(False)),
        attempt(lambda: setattr(y, "requires_grad", False)),
        attempt(lambda: lib.ones(1, dtype=lib.int64).requires_grad_()),
        attempt(lambda: setattr(lib.ones(1, dtype=lib.int64), "requires_grad", True)),
        y.requires_grad_(True) is y,
        y.detach().requires_grad_().is_leaf,
    )


def gradients_of_a_detached_view(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.detach()
    y.requires_grad_()
    (y * x).sum().backward()
    return x.grad, y.grad, y._is_view()


def bases(lib):
    x = leaf(lib, 1.0, 2.0, 3.0, 4.0)
    y = x.view(2, 2)
    z = y[0]
    return y._base is x, z._base is x, x._base, y.detach()._base is None, z.clone()._base


def swapped_data(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * x
    x.data = lib.ones(2, dtype=lib.float64) * 7
    y.sum().backward()
    return x.grad, attempt(lambda: setattr(x, "data", 3.0)), x._version


def written_after_the_pass(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x * x
    y.sum().backward()
    with lib.no_grad():
        x.zero_()
    return x.grad, x


def increments(lib):
    x = lib.ones(2)
    lib.autograd.graph.increment_version(x)
    lib.autograd.graph.increment_version([x, x])
    return x._version


def increments_of_what_is_saved(lib):
    x = leaf(lib, 1.0, 2.0)
    y = x.detach().clone()
    z = x * y
    lib.autograd.graph.increment_version(y)
    return refused(lambda: z.sum().backward())


BEHAVIOURS = [
    value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "refused"
]


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda b: b.__name__)
def test_write(torch, behaviour):
    assert_same(behaviour, torch)


REFUSED = (
    "x.index_put_((i,), T.ones(1, dtype=T.float64))",
    "x.index_put_((i,), T.ones((), dtype=T.float64))",
    "x.index_put_((i,), T.ones(1, dtype=T.int64), accumulate=True)",
    "x.index_put_((x > 0,), T.ones((), dtype=T.float64))",
    "x.index_put_((x > 0,), T.ones(2, dtype=T.float64))",
    "x.int().normal_()",
    "x.bool().uniform_()",
    "x.normal_().mul_(0)",
    "T.arange(3.0).expand(2, 3).unfold(0, 2, 1).zero_()",
    "T.arange(3.0).expand(2, 3).unfold(0, 2, 1).fill_(2)",
    "T.arange(6.0).unfold(0, 3, 1)[:, 1:].fill_(2)",
    "x.view()",
    "x.expand()",
    "x.permute()",
    "x.repeat()",
    "x.flip()",
    "x.tile()",
    "x[0].view()",
)


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_refused(torch, call):
    def behaviour(lib):
        return eval(call, {"T": lib, "x": lib.ones(2), "i": lib.tensor([0])})

    assert_same(behaviour, torch)
