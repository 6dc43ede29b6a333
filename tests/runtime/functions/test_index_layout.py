"""Strides of indexing results are PyTorch's, so that `view` is allowed for the same ones."""

import numpy as np
import pytest

import gradspec as gs

CALLS = (
    *("x[:, i]", "x[i]", "x[..., i]", "x[i, :, i]", "x[:, i, i]", "x[0, i]", "x[i, 0]", "x[1:, i]"),
    *("x[i[:, None], i]", "x[i[:, None], :, i]", "x[:, None, i]", "x[i, i, i]", "x[..., ::2, i]"),
    *("x[m]", "x[:, m2]", "x[m, i]", "x[:, i[None]]", "x[i, 1:]"),
)
ORDERS = ((0, 1, 2), (2, 0, 1), (1, 0, 2), (2, 1, 0), (0, 2, 1))


@pytest.mark.oracle
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("call", CALLS)
def test_strides_are_those_of_pytorch(torch, call, order):
    def strides(lib):
        x = lib.arange(27.0).reshape(3, 3, 3).permute(order)
        masks = {"m": x[:, :, 0] % 2 > 0, "m2": x[0] > 6}
        found = eval(call, {"x": x, "i": lib.tensor([0, 2])} | masks)
        # Nothing depends on the steps between elements that are not there.
        return [step for n, step in zip(found.shape, found.stride(), strict=True) if n > 1]

    try:
        expected = strides(torch)
    except IndexError:
        with pytest.raises(IndexError):
            strides(gs)
        return
    assert strides(gs) == expected


def test_columns_can_be_viewed_as_one_dimension():
    x = gs.tensor(np.arange(6.0).reshape(2, 3))
    assert x[:, gs.tensor([0, 2])].view(-1).tolist() == [0, 2, 3, 5]


@pytest.mark.oracle
@pytest.mark.parametrize("index", ["-2:", "0:", ":2", "-5:", ":-1", "0:5:1", "None:2"])
def test_a_part_counted_from_the_end_is_a_view_of_its_own(torch, index):
    def name(lib):
        x = lib.ones(2, 2, requires_grad=True)
        return eval(f"x[:, {index}]", {"x": x}).grad_fn.name()

    assert name(gs) == name(torch)


@pytest.mark.oracle
def test_a_number_is_copied_into_a_tensor_without_dimensions(torch):
    def name(lib):
        x = lib.ones((), requires_grad=True).clone()
        x[...] = 2
        return x.grad_fn.name().removeprefix("torch::autograd::"), x.item()

    assert name(gs) == name(torch) == ("CopyBackwards", 2)


GRADIENTS = {
    "a list": lambda x, i, w: x[[0, 2]].t() @ w,
    "an index": lambda x, i, w: x[i].t() @ w,
    "a negative index": lambda x, i, w: x[i - 3].t() @ w,
    "index_select": lambda x, i, w: x.index_select(0, i).t() @ w,
    "embedding": lambda x, i, w: gs.nn.functional.embedding(i, x).t() @ w,
    "take_along_dim": lambda x, i, w: x.take_along_dim(i[:, None].expand(2, 2), 0).t() @ w,
    "gather": lambda x, i, w: x.gather(0, i[:, None].expand(2, 2)).t() @ w,
    "einsum": lambda x, i, w: gs.einsum("ij,i->j", x[i], w),
    "index of columns": lambda x, i, w: x.t()[:, i] @ w,
}


@pytest.mark.parametrize("call", GRADIENTS)
def test_the_gradient_of_what_an_index_picks_is_not_lost(call):
    # The cotangent of the rows is a transposed product: it is in column-major order.
    x = gs.ones(3, 2, requires_grad=True)
    GRADIENTS[call](x, gs.tensor([0, 2]), gs.tensor([1.0, 5.0])).backward(gs.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [[1, 10], [0, 0], [5, 50]]


def test_the_gradient_of_an_expanded_cotangent():
    x = gs.ones(3, 2, requires_grad=True)
    x[gs.tensor([2, 2])].backward(gs.tensor([[1.0, 2.0]]).expand(2, 2))
    assert x.grad.tolist() == [[0, 0], [0, 0], [2, 4]]


@pytest.mark.oracle
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("covered", [1, 2, 3])
def test_the_gradient_of_what_a_mask_picks(torch, order, covered):
    def gradients(lib):
        cotangent = lib.arange(12.0).reshape(2, 3, 2).permute(order)
        mask = cotangent.contiguous()[(..., *(0,) * (3 - covered))] % 2 == 0
        x = lib.zeros(tuple(cotangent.shape), requires_grad=True)
        values = lib.zeros(tuple(x.detach()[mask].shape), requires_grad=True)
        written = lib.index_put(x, (mask,), values)
        return [g.tolist() for g in lib.autograd.grad(written, (x, values), cotangent)]

    assert gradients(gs) == gradients(torch)
