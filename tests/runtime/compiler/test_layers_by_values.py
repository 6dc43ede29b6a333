"""Layers whose eager code looks at values, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec import nn

from .comparing import assert_same


def compare(backend: str, make: Callable[[], nn.Module], inputs: Callable[[], Any]) -> None:
    """Compare three calls with eager: results, gradients, buffers; one program does for all."""
    gs.manual_seed(0)
    ours = make()
    theirs = make()
    theirs.load_state_dict(ours.state_dict())

    def gradients(module: nn.Module) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            found = module(*args)
            total = found.loss if hasattr(found, "loss") else found.sin().sum()
            return total.detach(), gs.autograd.grad(total, list(module.parameters()))

        return run

    compiled = gs.compile(gradients(ours), backend=backend)
    for _ in range(3):
        args = inputs()
        assert_same(compiled(*args), gradients(theirs)(*args), 1e-5)
        assert_same(list(ours.buffers()), list(theirs.buffers()), 1e-5)
    assert compiled.count_captures() == 1


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_batch_norm_with_the_mean_of_all_batches(backend: str) -> None:
    compare(backend, lambda: nn.BatchNorm1d(4, momentum=None), lambda: [gs.randn(6, 4) + 1])


@pytest.mark.parametrize("backend", ["numpy", "c"])
@pytest.mark.parametrize("padding_idx", [None, 2])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(backend: str, mode: str, padding_idx: int | None) -> None:
    def make() -> nn.Module:
        return nn.EmbeddingBag(6, 3, mode=mode, padding_idx=padding_idx)

    offsets = iter([gs.tensor([0, 3, 3]), gs.tensor([0, 0, 8]), gs.tensor([0, 1, 7])])
    compare(backend, make, lambda: [gs.randint(6, (8,)), next(offsets)])
    compare(backend, make, lambda: [gs.randint(6, (4, 3))])


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_bags_with_weights(backend: str) -> None:
    bag = nn.EmbeddingBag(6, 3, mode="sum", padding_idx=1)

    def run(indices: gs.Tensor, weights: gs.Tensor) -> Any:
        return gs.autograd.grad(bag(indices, per_sample_weights=weights).sin().sum(), bag.weight)

    compiled = gs.compile(run, backend=backend)
    for _ in range(3):
        args = gs.randint(6, (4, 3)), gs.rand(4, 3)
        assert_same(compiled(*args), run(*args), 1e-5)


def test_an_index_outside_of_the_table_is_refused_by_the_program() -> None:
    bag = nn.EmbeddingBag(6, 3)
    compiled = gs.compile(lambda indices: bag(indices), backend="numpy")
    compiled(gs.tensor([[0, 5]]))
    with pytest.raises(IndexError, match="index out of range"):
        compiled(gs.tensor([[0, 6]]))


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_softmax_of_clusters(backend: str) -> None:
    gs.manual_seed(1)
    compare(
        backend,
        lambda: nn.AdaptiveLogSoftmaxWithLoss(6, 20, [5, 10], head_bias=True),
        lambda: [gs.randn(60, 6), gs.randint(20, (60,))],
    )


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_predictions_of_clusters(backend: str) -> None:
    gs.manual_seed(1)
    module = nn.AdaptiveLogSoftmaxWithLoss(6, 20, [5, 10])
    compiled = gs.compile(lambda x: module.predict(x), backend=backend)
    for _ in range(3):
        x = 5 * gs.randn(30, 6)
        assert compiled(x).tolist() == module.predict(x).tolist()
