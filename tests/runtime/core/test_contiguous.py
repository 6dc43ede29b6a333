"""`contiguous` copies only what does not lie in row-major order."""

import pytest

import gradspec as gs


def test_a_contiguous_tensor_is_answered_itself():
    x = gs.ones(2, 3, requires_grad=True)
    assert x.contiguous() is x


def test_a_copy_lies_in_row_major_order():
    x = gs.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = x.t().contiguous()
    assert y.is_contiguous()
    assert y.view(-1).tolist() == [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    assert y.grad_fn.name() == "CloneBackward0"
    (y * gs.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).sum().backward()
    assert x.grad.tolist() == [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]


def test_a_tangent_lies_as_its_primal_does():
    with gs.autograd.forward_ad.dual_level():
        x = gs.autograd.forward_ad.make_dual(gs.ones(2, 3), gs.ones(2, 3)).t().contiguous()
        x.view(-1)[1:].mul_(2)
        primal, tangent = gs.autograd.forward_ad.unpack_dual(x)
        assert (
            primal.view(-1).tolist() == tangent.view(-1).tolist() == [1.0, 2.0, 2.0, 2.0, 2.0, 2.0]
        )


@pytest.mark.oracle
@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x.t(), lambda x: x[:, 1:], lambda x: x[1:]]
)
def test_it_copies_what_pytorch_copies(torch, view):
    for library in (gs, torch):
        x = view(library.ones(2, 3))
        found = x.contiguous() is x
        if library is gs:
            expected = found
    assert found == expected
