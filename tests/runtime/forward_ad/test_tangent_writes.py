"""In-place ops on duals: the tangents follow the values, as in PyTorch."""

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import forward_ad


class Side:
    """One of the two libraries, with short names for what the cases make."""

    def __init__(self, library, forward_mode):
        self.t = library
        self.fw = forward_mode

    def plain(self, **kwargs):
        return self.t.tensor([1.0, 2.0, 3.0, 4.0], **kwargs)

    def dual(self):
        return self.fw.make_dual(self.plain(), self.plain())

    def tangent(self, tensor):
        return self.fw.unpack_dual(tensor).tangent

    def index(self, *values):
        return self.t.tensor(list(values))


@pytest.fixture
def ours():
    return Side(gs, forward_ad)


def on_dual(change):
    """A case that changes a dual in place."""

    def case(s):
        dual = s.dual()
        change(s, dual)
        return [dual]

    return case


def on_plain(change):
    """A case that writes a dual to a plain tensor."""

    def case(s):
        plain = s.plain()
        change(s, plain, s.dual())
        return [plain]

    return case


def set_item(tensor, index, value):
    tensor[index] = value


def add_item(tensor, index, value):
    tensor[index] += value


def the_tangent_given(s):
    tangent = s.plain()
    return [s.fw.make_dual(s.plain(), tangent).mul_(3), tangent]


def the_primal_given(s):
    primal = s.plain()
    return [s.fw.make_dual(primal, s.plain()).mul_(3), primal]


def a_view_of_a_plain_tensor(s):
    x = s.plain()
    x[1:3].mul_(s.dual()[:2])
    return [x, x[0:2]]


def views_made_before(s):
    x = s.plain()
    part, folded = x[:2], x.view(2, 2)
    part.add_(s.dual()[:2])
    return [x, part, folded]


def views_of_views(s):
    d = s.dual()
    folded = d.view(2, 2)
    row = folded[0]
    row.mul_(3)
    return [d, folded, row]


def a_base(s):
    d = s.dual()
    part = d[1:]
    d.mul_(2)
    return [d, part]


def one_of_several_views(s):
    d = s.dual()
    one = d.unbind(0)[1]
    d.mul_(2)
    return [d, one]


def broadcast_copy(s):
    return [s.t.ones(2, 4).copy_(s.dual())]


def a_tangent_that_lies_otherwise(s):
    d = s.fw.make_dual(s.t.ones(2, 3), s.t.ones(3, 2).t() * 2)
    d.view(-1).mul_(3)
    return [d]


def an_expanded_tangent(s):
    d = s.fw.make_dual(s.t.ones(2, 3), s.t.ones(1, 3).expand(2, 3))
    d[0].mul_(3)
    return [d]


def copies(s):
    d = s.dual()
    made = [d.clone(), d + 1, d.view(2, 2).t().reshape(-1)]
    return [d, *(copy.mul_(2) for copy in made)]


def detached(s):
    d = s.dual()
    apart = d.detach()
    apart.mul_(2)
    return [d, apart]


def another_dtype(s):
    return [s.t.tensor([1, 2, 3, 4], dtype=s.t.float64).add_(s.dual())]


def without_gradients(s):
    with s.t.no_grad():
        return [s.dual().mul_(2)]


def reverse_over_forward(s):
    x = s.plain(requires_grad=True)
    y = x * 1
    y[1:].mul_(s.dual()[:3])
    (of_tangent,) = s.t.autograd.grad(s.tangent(y).sum(), x, retain_graph=True)
    (of_value,) = s.t.autograd.grad(s.fw.unpack_dual(y).primal.sum(), x)
    return [y, of_tangent, of_value]


def gradient_of_a_written_tangent(s):
    t = s.plain(requires_grad=True)
    d = s.fw.make_dual(s.plain(), t * 1).mul_(2)
    return [d, *s.t.autograd.grad(s.tangent(d).sum(), t)]


CASES = {
    "mul_(number)": on_dual(lambda s, d: d.mul_(2)),
    "mul_(plain)": on_dual(lambda s, d: d.mul_(s.plain())),
    "add_(alpha)": on_dual(lambda s, d: d.add_(s.dual(), alpha=3)),
    "sin_": on_dual(lambda s, d: d.sin_()),
    "exp_": on_dual(lambda s, d: d.exp_()),
    "chain": on_dual(lambda s, d: d.sin_().mul_(2).add_(d)),
    "relu_": on_dual(lambda s, d: d.sub_(2).relu_()),
    "clamp_": on_dual(lambda s, d: d.clamp_(2.0, 3.0)),
    "floor_": on_dual(lambda s, d: d.floor_()),
    "masked_fill_": on_dual(lambda s, d: d.masked_fill_(d > 2, 9.0)),
    "zero_": on_dual(lambda s, d: d.zero_()),
    "fill_": on_dual(lambda s, d: d.fill_(3.0)),
    "copy_(plain)": on_dual(lambda s, d: d.copy_(s.plain())),
    "[1] = number": on_dual(lambda s, d: set_item(d, 1, 7.0)),
    "[index] = plain": on_dual(lambda s, d: set_item(d, s.index(0, 3), s.plain()[:2])),
    "[mask] = number": on_dual(lambda s, d: set_item(d, s.index(True, False, False, True), 5.0)),
    "[1:].mul_": on_dual(lambda s, d: d[1:].mul_(5)),
    "[0] += dual": on_dual(lambda s, d: add_item(d, 0, 2 * d[1])),
    "index_put_ added plain": on_dual(
        lambda s, d: d.index_put_((s.index(0, 0),), s.plain()[:2], accumulate=True)
    ),
    "index_put_ added": on_dual(
        lambda s, d: d.index_put_((s.index(0, 0),), s.dual()[:2], accumulate=True)
    ),
    "plain add_": on_plain(lambda s, x, d: x.add_(d)),
    "plain mul_": on_plain(lambda s, x, d: x.mul_(d)),
    "plain fill_": on_plain(lambda s, x, d: x.fill_(d[1])),
    "plain copy_": on_plain(lambda s, x, d: x.copy_(d)),
    "plain[1] = dual": on_plain(lambda s, x, d: set_item(x, 1, d[2])),
    "plain[1:3] = dual": on_plain(lambda s, x, d: set_item(x, slice(1, 3), d[:2])),
    "plain[index] = dual": on_plain(lambda s, x, d: set_item(x, s.index(0, 3), d[:2])),
    "plain[0] += dual": on_plain(lambda s, x, d: add_item(x, 0, 2 * d[1])),
    "plain index_put_ added": on_plain(
        lambda s, x, d: x.index_put_((s.index(0, 0),), d[:2], accumulate=True)
    ),
} | {
    case.__name__: case
    for case in (
        the_tangent_given,
        the_primal_given,
        a_view_of_a_plain_tensor,
        views_made_before,
        views_of_views,
        a_base,
        one_of_several_views,
        broadcast_copy,
        a_tangent_that_lies_otherwise,
        an_expanded_tangent,
        copies,
        detached,
        another_dtype,
        without_gradients,
        reverse_over_forward,
        gradient_of_a_written_tangent,
    )
}


def facts(side, case):
    """Primal and tangent of each tensor that a case answers."""
    with side.fw.dual_level():
        found = [tuple(side.fw.unpack_dual(tensor)) for tensor in case(side)]
        return [
            None if tensor is None else (str(tensor.dtype).split(".")[-1], tensor.tolist())
            for pair in found
            for tensor in pair
        ]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")
@pytest.mark.parametrize("case", CASES)
def test_tangents_follow_as_in_pytorch(torch, ours, case):
    theirs = Side(torch, torch.autograd.forward_ad)
    mine, expected = facts(ours, CASES[case]), facts(theirs, CASES[case])
    for fact, other in zip(mine, expected, strict=True):
        assert (fact is None) == (other is None)
        if fact is not None:
            assert fact[0] == other[0]
            np.testing.assert_allclose(fact[1], other[1], rtol=1e-5, atol=1e-6)


def test_a_dual_times_itself_has_the_tangent_of_a_square(ours):
    # PyTorch 2.13 reads the overwritten value in one of the two terms.
    with forward_ad.dual_level():
        d = ours.dual()
        d.mul_(d)
        assert ours.tangent(d).tolist() == [2.0, 8.0, 18.0, 32.0]


def test_levels_nest_in_place():
    with forward_ad.dual_level():
        x = forward_ad.make_dual(gs.tensor([2.0]), gs.tensor([1.0]))
        with forward_ad.dual_level():
            y = forward_ad.make_dual(x, gs.tensor([1.0]))
            cube = gs.tensor([0.0])
            cube.add_((y * 1).mul_(y).mul_(y))
            value, slope = forward_ad.unpack_dual(cube)
        assert forward_ad.unpack_dual(value).tangent.tolist() == [12.0]  # 3 x^2
        assert slope.tolist() == [12.0]
        assert forward_ad.unpack_dual(slope).tangent.tolist() == [12.0]  # 6 x


def test_views_at_another_level_are_refused():
    with forward_ad.dual_level():
        view = (forward_ad.make_dual(gs.ones(1), gs.ones(1)) * 1).view(1)
        with (
            forward_ad.dual_level(),
            pytest.raises(RuntimeError, match="at another level is not supported"),
        ):
            view.mul_(forward_ad.make_dual(gs.ones(1), gs.ones(1)))


@pytest.mark.parametrize("change", [lambda d: d.mul_(2), lambda d: d[1:].zero_()])
def test_a_leaf_is_refused(ours, change):
    with forward_ad.dual_level():
        d = forward_ad.make_dual(ours.plain(requires_grad=True), ours.plain())
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            change(d)


def test_values_that_a_tangent_needs_are_watched(ours):
    with forward_ad.dual_level():
        x = ours.plain(requires_grad=True)
        d = forward_ad.make_dual(x * 1, ours.plain())
        y = d.sin()
        d.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            gs.autograd.grad(forward_ad.unpack_dual(y).primal.sum(), x)


def test_detach_in_place_drops_the_tangent(ours):
    with forward_ad.dual_level():
        d = ours.dual() * 2
        d.detach_()
        assert ours.tangent(d) is None


def test_after_the_level_it_is_an_ordinary_tensor(ours):
    x = ours.plain(requires_grad=True)
    with forward_ad.dual_level():
        y = x * 1
        y.mul_(ours.dual())
    y.mul_(2)
    y.sum().backward()
    assert y.tolist() == [2.0, 8.0, 18.0, 32.0]
    assert x.grad.tolist() == [2.0, 4.0, 6.0, 8.0]
