"""Modules of convolution, pooling, normalisation, embedding and dropout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn


def test_convolution_of_ones_counts_the_kernel() -> None:
    layer = nn.Conv2d(2, 3, 2, padding=1, bias=False)
    nn.init.ones_(layer.weight)
    out = layer(gs.ones(1, 2, 2, 2))
    assert out.shape == (1, 3, 3, 3)
    assert out[0, 0].tolist() == [[2, 4, 2], [4, 8, 4], [2, 4, 2]]


def test_a_network_of_all_layers_learns() -> None:
    gs.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding="same"),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.LayerNorm(4),
        nn.Linear(4, 2),
    )
    images, classes = gs.randn(16, 1, 8, 8), gs.tensor([0, 1] * 8)
    images = images + classes.to(gs.float32).view(16, 1, 1, 1) * 2
    optimizer = gs.optim.Adam(net.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), classes)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4
    assert all(p.grad is not None and p.grad.dtype == gs.float32 for p in net.parameters())


def test_batch_norm_has_no_mean_and_unit_variance() -> None:
    layer = nn.BatchNorm1d(3, eps=1e-10)
    batch = gs.randn(50, 3) * 4 + 7
    out = layer(batch).detach().numpy()
    np.testing.assert_allclose(out.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(out.var(0), 1, rtol=1e-4)
    np.testing.assert_allclose(layer.running_mean.numpy(), 0.1 * batch.numpy().mean(0), rtol=1e-4)
    assert layer.num_batches_tracked.item() == 1


def test_dropout_keeps_the_mean_and_is_silent_in_evaluation() -> None:
    gs.manual_seed(1)
    layer = nn.Dropout(0.25)
    ones = gs.ones(20_000, requires_grad=True)
    out = layer(ones)
    kept = out.detach().numpy() != 0
    assert abs(kept.mean() - 0.75) < 0.02
    np.testing.assert_allclose(out.detach().numpy()[kept], 1 / 0.75, rtol=1e-6)
    out.sum().backward()
    assert np.array_equal(ones.grad.numpy() != 0, kept)
    assert layer.eval()(ones) is ones


def test_native_dropout_answers_its_mask() -> None:
    gs.manual_seed(2)
    out, mask = gs.native_dropout(gs.ones(100), 0.5, True)
    assert mask.dtype == gs.bool
    assert np.array_equal(out.numpy(), mask.numpy() * 2.0)


def test_embedding_gradient_counts_rows_but_not_padding() -> None:
    layer = nn.Embedding(4, 2, padding_idx=0)
    assert layer.weight[0].tolist() == [0, 0]
    layer(gs.tensor([[0, 2], [2, 3]])).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [0, 0], [2, 2], [1, 1]]


def test_in_place_activation_writes_its_input() -> None:
    x = gs.tensor([-2.0, 3.0])
    assert nn.functional.leaky_relu(x, 0.5, inplace=True) is x
    assert x.tolist() == [-1, 3]


def test_a_probability_above_one_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(2.0)


@pytest.mark.parametrize("shape", [(5, 3), (5, 3, 2, 2), (5, 3, 2)])
def test_weights_for_another_number_of_classes(shape: tuple[int, ...]) -> None:
    target = gs.zeros(shape[0], *shape[2:], dtype=gs.int64)
    for loss in (nn.functional.nll_loss, nn.functional.cross_entropy):
        with pytest.raises(RuntimeError, match="weight tensor should be defined either for all"):
            loss(gs.ones(shape), target, weight=gs.ones(4))


@pytest.mark.parametrize(
    ("images", "grid", "match"),
    [
        ((1, 1, 4, 4), (2, 2, 2, 2), "expected grid and input to have same batch size"),
        ((1, 1, 4, 4), (1, 2, 2, 3), "expected grid to have size 2 in last dimension"),
        ((1, 1, 4, 4, 4), (1, 2, 2, 2, 2), "expected grid to have size 3 in last dimension"),
        ((1, 1, 4, 4), (1, 2, 2), "same number of dimensions"),
        ((1, 1, 4, 4, 4), (1, 2, 2, 2), "same number of dimensions"),
    ],
)
def test_grids_that_do_not_fit(images: tuple[int, ...], grid: tuple[int, ...], match: str) -> None:
    with pytest.raises(RuntimeError, match=match):
        nn.functional.grid_sample(gs.ones(images), gs.ones(grid), align_corners=False)
    with pytest.raises(RuntimeError, match=match):
        gs.grid_sampler(gs.ones(images), gs.ones(grid), 0, 0, False)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_cells_without_hidden_numbers(kind: str, batch: tuple[int, ...]) -> None:
    x = gs.ones(*batch, 2, requires_grad=True)
    found = getattr(nn, kind)(2, 0)(x)
    for state in found if isinstance(found, tuple) else (found,):
        assert state.shape == (*batch, 0)
        (grad,) = gs.autograd.grad(state.sum(), x, retain_graph=True)
        assert grad.tolist() == gs.zeros(*batch, 2).tolist()


@pytest.mark.parametrize("moving", ["mean", "var"])
def test_tangents_of_running_statistics_are_not_lost(moving: str) -> None:
    forward_ad = gs.autograd.forward_ad
    given = {"mean": gs.zeros(1), "var": gs.ones(1)}
    with forward_ad.dual_level():
        given[moving] = forward_ad.make_dual(given[moving], gs.ones(1))
        x = gs.ones(2, 1)
        for each in (x, forward_ad.make_dual(x, x)):
            with pytest.raises(RuntimeError, match=f"respect to argument 'running_{moving}'"):
                nn.functional.batch_norm(each, given["mean"], given["var"])


@pytest.mark.parametrize("loss", [nn.functional.nll_loss, nn.functional.multi_margin_loss])
def test_tangents_of_class_weights_are_not_lost(loss: Any) -> None:
    forward_ad = gs.autograd.forward_ad
    x, target = gs.tensor([[0.5, -1.0]]), gs.tensor([1])
    with forward_ad.dual_level():
        weight = forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.ones(2))
        with pytest.raises(RuntimeError, match="respect to argument 'weight'"):
            loss(x, target, weight=weight)
        found = forward_ad.unpack_dual(loss(forward_ad.make_dual(x, x), target, weight=gs.ones(2)))
        assert found.tangent is not None
