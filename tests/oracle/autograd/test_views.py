"""Views, versions, writes, `detach_` and `requires_grad_`: the same in PyTorch."""

import pytest

from tests.oracle.behaviours import assert_same, attempt, leaf

pytestmark = pytest.mark.oracle


def matrix(lib, grad=True):
    return lib.arange(6.0, dtype=lib.float64).reshape(2, 3).requires_grad_(grad)


def assign(tensor, index, value):
    tensor[index] = value
    return tensor


def augment(tensor, index, value):
    tensor[index] += value
    return tensor


def views_follow_requires_grad(lib):
    x = matrix(lib, False)
    row = x[0]
    with lib.no_grad():
        hidden = x[1]
    x.requires_grad_(True)
    after = [row.requires_grad, row.is_leaf, hidden.requires_grad]
    x.requires_grad_(False)
    return after, row.requires_grad, hidden.requires_grad


def old_view_gets_no_gradient(lib):
    x = matrix(lib, False)
    row = x[0]
    x.requires_grad_(True)
    (row * 2).sum().backward()
    return x.grad, row.grad


def write_then_requires_grad(lib):
    x = matrix(lib, False)
    row = x[0]
    x.mul_(2)
    x.requires_grad_(True)
    (row * 2).sum().backward()
    return row, x.grad


def views_outlive_detach_(lib):
    x = matrix(lib) * 2
    row = x[0]
    x.detach_()
    with lib.no_grad():
        x.mul_(3)
    return row, row.grad_fn.next_functions


def write_to_view_after_detach_(lib):
    x = matrix(lib) * 2
    row = x[0]
    x.detach_()
    return row.mul_(2)


def detached_in_place_after_saving(lib):
    x = leaf(lib, 0.5)
    y = x.sin()
    z = y.cos()
    y.detach_()
    return y._version, attempt(lambda: z.sum().backward())


def leaf_in_the_interior(lib):
    x = leaf(lib, 1.0, 2.0)
    y = (x * 3).sum()
    w = leaf(lib, 5.0)
    x.detach_()
    x.mul_(w)
    return attempt(y.backward)


def toggled_leaf(lib):
    x = leaf(lib, 1.0)
    y = x * 3
    x.requires_grad_(False)
    first = attempt(lambda: y.sum().backward(retain_graph=True)), x.grad
    x.requires_grad_(True)
    y.sum().backward()
    return first, x.grad


def versions(lib):
    x = matrix(lib) * 1
    row, other = x[0], x.detach()
    counts = [x._version, row._version]
    row.mul_(2)
    other[0] = 5.0
    x.data.mul_(2)
    with lib.no_grad():
        x.zero_()
    return counts, x._version, row._version, other._version, x.data._version, x.clone()._version


def version_of_set_data(lib):
    x = lib.ones(2)
    x.add_(1)
    x.data = lib.zeros(2)
    return x._version, x


def saved_view_of_written(lib):
    x = matrix(lib) * 1
    row = x[0]
    y = row * row
    x[1] = 0.0
    return attempt(lambda: y.sum().backward())


def saved_then_detached_written(lib):
    x = matrix(lib) * 1
    y = x * x
    x.detach().mul_(2)
    return attempt(lambda: y.sum().backward())


def saved_then_data_written(lib):
    x = matrix(lib)
    y = (x * x).sum()
    x.data.mul_(2)
    y.backward()
    return x.grad


def write_through_chain(lib):
    x = matrix(lib)
    y = x * 1
    v = y.t()[1:]
    w = v[0]
    w.mul_(10)
    v.add_(1)
    nodes = [w.grad_fn, v.grad_fn, y.grad_fn]
    (y * y).sum().backward()
    return nodes, w._base is y, v._base is y, x.grad


def write_from_tensor_with_history(lib):
    x, w = matrix(lib), leaf(lib, 1.0, 2.0, 3.0)
    y = x * 1
    y[0].copy_(w)
    y[1:].mul_(w)
    y.sum().backward()
    return x.grad, w.grad


def constant_base_takes_history(lib):
    x, w = matrix(lib, False), leaf(lib, 1.0, 2.0, 3.0)
    row, other = x[0], x[1]
    row.mul_(w)
    x.sum().backward()
    return x.requires_grad, row.grad_fn, other.grad_fn, w.grad


def second_backward_through_slices(lib):
    x = matrix(lib)
    y = x * 1
    y[0] = 1.0
    y.sum().backward()
    return attempt(lambda: y.sum().backward())


def second_backward_through_index_put(lib):
    x = matrix(lib) * 1
    x[[0, 1]] = leaf(lib, 1.0, 2.0, 3.0)
    x.sum().backward(retain_graph=True)
    x.sum().backward()
    return attempt(lambda: x.sum().backward())


def hooks_on_saved_of_slices(lib):
    x, w, seen = matrix(lib), leaf(lib, 1.0, 2.0, 3.0), []
    y = x * 1
    with lib.autograd.graph.saved_tensors_hooks(
        lambda t: seen.append(t * 1) or t, lambda t: t * 10
    ):
        y[0].mul_(w)
    y.sum().backward()
    return seen, w.grad, x.grad


def retained_by_base(lib):
    x = matrix(lib)
    y = x * 1
    y.retain_grad()
    y[0].mul_(2)
    y.sum().backward()
    return y.grad, x.grad


def retained_through_rebase(lib):
    x = matrix(lib)
    y = x * 1
    row = y[0]
    row.retain_grad()
    y.mul_(2)
    kept = row.retains_grad
    (row * 3).sum().backward()
    return kept, row.grad


def node_hook_sees_none(lib):
    x, w, seen = matrix(lib, False), leaf(lib, 1.0, 2.0, 3.0), []
    x[[0]] = w
    x.grad_fn.register_hook(lambda into, out: seen.append([g is None for g in into]))
    x.sum().backward()
    return seen


def several_views_written(lib):
    x = matrix(lib) * 1
    a, b = x.unbind()
    return attempt(lambda: a.mul_(2)), attempt(lambda: x.mul_(2)), attempt(lambda: b.grad_fn)


def no_grad_view_written(lib):
    x = matrix(lib) * 1
    with lib.no_grad():
        row = x[0]
    written = attempt(lambda: row.mul_(2))
    with lib.no_grad():
        row.mul_(2)
    return written, attempt(lambda: row * 2), x


def stale_view_without_grad(lib):
    x = matrix(lib) * 1
    with lib.no_grad():
        row = x[0]
    x.mul_(2)
    with lib.no_grad():
        return row.view(-1), row + 1


def expanded(lib):
    return lib.zeros(3, dtype=lib.float64).expand(2, 3)


def copy_itself(lib):
    x = expanded(lib)
    return x.copy_(x), x.copy_(x[:])


BEHAVIOURS = {
    "views follow requires_grad": views_follow_requires_grad,
    "an old view gets no gradient": old_view_gets_no_gradient,
    "a write before requires_grad": write_then_requires_grad,
    "views outlive detach_": views_outlive_detach_,
    "a write to a view after detach_": write_to_view_after_detach_,
    "saved, then detached in place": detached_in_place_after_saving,
    "a leaf in the interior": leaf_in_the_interior,
    "a toggled leaf": toggled_leaf,
    "detach_ of a view": lambda lib: matrix(lib)[0].detach_(),
    "detach_ of a leaf": lambda lib: matrix(lib).detach_(),
    "requires_grad_ of a result": lambda lib: (matrix(lib) * 1).requires_grad_(False),
    "requires_grad_ of integers": lambda lib: lib.ones(2, dtype=lib.int64).requires_grad_(),
    "versions": versions,
    "version and data": version_of_set_data,
    "a saved view": saved_view_of_written,
    "a detached write": saved_then_detached_written,
    "a write to data": saved_then_data_written,
    "views of views": write_through_chain,
    "histories of what is written": write_from_tensor_with_history,
    "a constant base": constant_base_takes_history,
    "slices twice": second_backward_through_slices,
    "index_put twice": second_backward_through_index_put,
    "saved hooks of slices": hooks_on_saved_of_slices,
    "retained by a view": retained_through_rebase,
    "retained by a base": retained_by_base,
    "requires_grad of a result": lambda lib: setattr(matrix(lib) * 1, "requires_grad", True),
    "requires_grad that is a number": lambda lib: setattr(matrix(lib), "requires_grad", 1),
    "no gradient for a constant": node_hook_sees_none,
    "several views": several_views_written,
    "a view without grad": no_grad_view_written,
    "a stale view without grad": stale_view_without_grad,
    "a write to a leaf": lambda lib: matrix(lib).mul_(2),
    "a write to a view of a leaf": lambda lib: matrix(lib)[0].mul_(2),
    "a write to a view's own leaf": lambda lib: matrix(lib, False)[0].requires_grad_()[:1].mul_(2),
    "expanded: number": lambda lib: expanded(lib).fill_(1.0),
    "expanded: 0-dim tensor": lambda lib: expanded(lib).fill_(lib.tensor(1.0)),
    "expanded: zero_": lambda lib: expanded(lib).zero_(),
    "expanded: op": lambda lib: expanded(lib).add_(1),
    "expanded: copy": lambda lib: expanded(lib).copy_(lib.ones(2, 3)),
    "expanded: copy of a 0-dim": lambda lib: expanded(lib).copy_(lib.ones(())),
    "expanded: itself": copy_itself,
    "expanded: number in a row": lambda lib: assign(expanded(lib), 0, 0.5),
    "expanded: number everywhere": lambda lib: assign(expanded(lib), slice(None), 0.5),
    "expanded: part of a detached": lambda lib: assign(
        expanded(lib).detach()[::2], slice(None), 0.5
    ),
    "overlap of parts": lambda lib: (lambda x: assign(x, slice(1, None), x[:-1]))(lib.arange(6.0)),
    "overlap, broadcast": lambda lib: (lambda x: assign(x, slice(None), x[1:]))(matrix(lib) * 1),
    "overlap by copy_": lambda lib: (lambda x: x.copy_(x[1:]))(matrix(lib) * 1),
    "values before indices": lambda lib: assign(lib.ones(1, 3), [0, 1], lib.ones(3, 2)),
    "indices when values fit": lambda lib: assign(lib.ones(1, 3), [0, 1], lib.ones(3)),
    "the nodes of a broadcast assignment": lambda lib: assign(
        lib.zeros(2, 3).double(), slice(None), leaf(lib, 1.0, 2.0, 3.0) * 1
    ).grad_fn.next_functions[1][0],
    "the nodes of a squeezed assignment": lambda lib: assign(
        lib.zeros(2, 3).double(), 0, leaf(lib, 1.0, 2.0, 3.0)[None, None]
    ).grad_fn.next_functions[1][0],
    "an augmented row": lambda lib: augment(matrix(lib) * 1, 0, leaf(lib, 1.0, 2.0, 3.0)),
    "data of another dtype": lambda lib: setattr(matrix(lib), "data", lib.ones(2, dtype=lib.int64)),
    "data that is no tensor": lambda lib: setattr(matrix(lib), "data", 3),
    "grad of another shape": lambda lib: setattr(matrix(lib), "grad", lib.ones(2)),
    "grad of another dtype": lambda lib: setattr(matrix(lib), "grad", lib.ones(2, 3)),
}


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_it_is_as_in_pytorch(torch, name):
    assert_same(BEHAVIOURS[name], torch)
