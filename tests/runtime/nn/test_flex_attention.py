"""Attention with scores that a function changes, and masks by blocks."""

from __future__ import annotations

import numpy as np
import pytest

import gradspec as gs
from gradspec.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    flex_attention,
    noop_mask,
    or_masks,
)

rng = np.random.default_rng(0)


def causal(b, h, q, k):
    return q >= k


def given(*shape, requires_grad=False):
    return gs.tensor(rng.normal(size=shape), requires_grad=requires_grad)


def by_hand(q, k, v, change, hidden, scale):
    """Return attention and the logarithm of its sums, place by place."""
    out = np.zeros((*q.shape[:3], v.shape[3]))
    lse = np.full(q.shape[:3], -np.inf)
    group = q.shape[1] // k.shape[1]
    for b, h, i in np.ndindex(q.shape[:3]):
        scores = scale * k[b, h // group] @ q[b, h, i]
        scores = np.array([change(s, b, h, i, j) for j, s in enumerate(scores)])
        weights = np.where([hidden(b, h, i, j) for j in range(len(scores))], 0.0, np.exp(scores))
        if weights.any():
            out[b, h, i] = weights @ v[b, h // group] / weights.sum()
            lse[b, h, i] = np.log(weights.sum())
    return out, lse


def test_scores_masks_and_shared_heads():
    q, k, v = given(2, 4, 5, 3), given(2, 2, 6, 3), given(2, 2, 6, 7)
    bias, document = given(4, 5, 6), gs.tensor([0, 0, 1, 1, 2, 2])

    def change(score, b, h, i, j):
        return score * 2 + bias[h, i, j] - 0.125 * (i - j)

    def rule(b, h, i, j):
        return (document[j] != 1) & ((i != 2) | (h == b))

    mask = create_block_mask(rule, 2, 4, 5, 6, BLOCK_SIZE=(2, 4))
    out, lse = flex_attention(q, k, v, change, mask, scale=0.7, enable_gqa=True, return_lse=True)
    numbers, documents = bias.numpy(), document.numpy()
    wanted = by_hand(
        *(each.numpy() for each in (q, k, v)),
        lambda s, b, h, i, j: s * 2 + numbers[h, i, j] - 0.125 * (i - j),
        lambda b, h, i, j: documents[j] == 1 or (i == 2 and h != b),
        0.7,
    )
    np.testing.assert_allclose(out.numpy(), wanted[0], rtol=1e-12)
    np.testing.assert_allclose(lse.numpy(), wanted[1], rtol=1e-12)
    assert np.isneginf(lse.numpy()).any()
    assert (out.numpy()[np.isneginf(lse.numpy())] == 0).all()


def test_gradients_to_the_second_order():
    shapes = [(1, 2, 3, 2)] * 3 + [(2, 3)]
    inputs = [given(*shape, requires_grad=True) for shape in shapes]
    mask = create_block_mask(causal, None, None, 3, 3, BLOCK_SIZE=2)

    def attend(q, k, v, bias):
        def change(score, b, h, i, j):
            return score.tanh() + bias[h, j]

        aux = AuxRequest(lse=True, max_scores=True)
        found, further = flex_attention(q, k, v, change, mask, return_aux=aux)
        return found, further.lse

    assert gs.autograd.gradcheck(attend, inputs, check_forward_ad=True)
    assert gs.autograd.gradgradcheck(attend, inputs)


def test_it_compiles():
    q, k, v = (given(1, 2, 8, 4, requires_grad=True) for _ in range(3))
    slopes = gs.tensor([0.5, 0.25])
    mask = create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=4)

    def alibi(score, b, h, i, j):
        return score - slopes[h] * (i - j)

    compiled = gs.compile(flex_attention, fullgraph=True)
    wanted, found = flex_attention(q, k, v, alibi, mask), compiled(q, k, v, alibi, mask)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), atol=1e-14)
    grads = [gs.autograd.grad(each.square().sum(), (q, k, v)) for each in (wanted, found)]
    for mine, other in zip(*grads, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), atol=1e-13)


def test_halves_are_computed_in_single_precision():
    q, k, v = (given(1, 1, 4, 4).half() for _ in range(3))
    out, lse = flex_attention(q, k, v, return_lse=True)
    assert (out.dtype, lse.dtype) == (gs.float16, gs.float32)


def test_blocks_of_a_mask():
    mask = create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=2)
    assert mask.shape == (1, 1, 8, 8)
    assert mask.kv_num_blocks.tolist() == [[[1, 1, 1, 1]]]
    assert mask.full_kv_num_blocks.tolist() == [[[0, 1, 2, 3]]]
    assert mask.to_dense()[0, 0].tolist() == np.tri(4).tolist()
    assert mask.sparsity() == 37.5
    assert "mask_mod=causal" in repr(mask)
    assert str(mask).splitlines()[2:6] == ["██      ", "████    ", "██████  ", "████████"]
    joint = create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=2, separate_full_blocks=False)
    assert joint.full_kv_num_blocks is None
    assert joint.to_dense().tolist() == mask.to_dense().tolist()


def test_a_block_that_does_not_count_hides_what_the_rule_lets_through():
    blocks, order = gs.tensor([[[1, 1]]]), gs.tensor([[[[0, 1], [1, 0]]]])
    mask = BlockMask.from_kv_blocks(blocks, order, BLOCK_SIZE=2)
    q, v = gs.zeros(1, 1, 4, 1), gs.arange(4.0).view(1, 1, 4, 1)
    assert flex_attention(q, q, v, block_mask=mask).flatten().tolist() == [0.5, 0.5, 2.5, 2.5]


def test_parts_of_a_mask():
    mask = create_block_mask(causal, 2, 3, 8, 8, BLOCK_SIZE=2)
    part = mask[1, :, gs.tensor([3])]
    assert part.kv_num_blocks.shape == (1, 3, 1)
    q = given(1, 3, 8, 2)
    with pytest.raises(RuntimeError, match="sliced BlockMask"):
        flex_attention(q, q, q, block_mask=part)
    assert mask._adjust(4, 6).to_dense()[0, 0].tolist() == [[1, 0, 0], [1, 1, 0]]


def test_rules_are_joined():
    def near(b, h, q, k):
        return q - k < 2

    both = create_mask(and_masks(causal, near), None, None, 4, 4)[0, 0].tolist()
    assert both == (np.tri(4) * np.tri(4, k=1).T).astype(bool).tolist()
    assert create_mask(or_masks(causal, near), None, None, 4, 4).all()
    assert create_mask(noop_mask, 2, 3, 4, 5).shape == (2, 3, 4, 5)
    scores = create_mask(lambda s, b, h, q, k: gs.where(q >= k, s, -gs.inf), None, None, 4, 4)
    assert scores[0, 0].tolist() == np.tri(4).astype(bool).tolist()


def test_what_does_not_fit_is_refused():
    q = given(1, 2, 4, 2)
    mask = create_block_mask(causal, None, None, 8, 8, BLOCK_SIZE=2)
    for call, error, words in (
        (lambda: flex_attention(q, q, q, block_mask=mask), ValueError, r"block_mask\.shape"),
        (lambda: flex_attention(q, q[:, :1], q[:, :1]), ValueError, "number of heads"),
        (lambda: flex_attention(q[0], q[0], q[0]), NotImplementedError, "4D"),
        (lambda: flex_attention(q, q.float(), q), ValueError, "same dtype"),
        (lambda: flex_attention(q, q, q, lambda s, b, h, i, j: 1.0), TypeError, "must return"),
        (lambda: flex_attention(q, q, q, lambda s, *at: s.view(1)), ValueError, "dimensions"),
        (lambda: create_mask(lambda b: b, 1, 1, 2, 2), AssertionError, "positional"),
        (lambda: or_masks(causal, 1), RuntimeError, "callable"),
    ):
        with pytest.raises(error, match=words):
            call()


@pytest.mark.oracle
def test_masks_are_pytorchs(torch):
    from torch.nn.attention import flex_attention as theirs

    def rule(b, h, q, k):
        return (q >= k) & (q - k < 5 + h)

    mine = create_block_mask(rule, 2, 3, 13, 10, BLOCK_SIZE=(4, 3))
    other = theirs.create_block_mask(rule, 2, 3, 13, 10, device="cpu", BLOCK_SIZE=(4, 3))
    for ours, wanted in zip(mine.as_tuple(), (*other.as_tuple()[:10], 4, 3, rule), strict=True):
        if isinstance(wanted, torch.Tensor):
            assert ours.tolist() == wanted.tolist()
            assert ours.dtype.name == str(wanted.dtype).removeprefix("torch.")
        else:
            assert ours == wanted
    assert str(mine) == str(other)
    assert repr(mine) == repr(other).replace("torch.", "gradspec.")
