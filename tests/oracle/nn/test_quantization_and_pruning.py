"""Fake quantisation, pruning, and arguments of modules that programs give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import Behaviour, assert_same, attempt

pytestmark = pytest.mark.oracle

RANDOM = np.random.default_rng(7)
W = RANDOM.standard_normal((4, 6))
X = RANDOM.standard_normal((3, 2, 7, 7))
MASK = RANDOM.random((4, 6)) < 0.5


def linear(library: Any) -> Any:
    module = library.nn.Linear(6, 4, dtype=library.float64)
    with library.no_grad():
        module.weight.copy_(library.tensor(W))
        module.bias.zero_()
    return module


def pruned(library: Any, prune: Any) -> Any:
    p = library.nn.utils.prune
    module = linear(library)
    found = prune(p, library, module)
    x = library.tensor(W.T[:, :3].T @ np.ones((6, 6)))
    module(x).pow(2).sum().backward()
    facts = [
        sorted(module.state_dict()),
        module.weight.detach(),
        module.weight_orig.grad,
        module.weight_mask,
        p.is_pruned(module),
        type(found).__name__,
    ]
    p.remove(module, "weight")
    return [*facts, sorted(module.state_dict()), module.weight.detach(), p.is_pruned(module)]


def both_pruned(library: Any) -> Any:
    p, first, second = library.nn.utils.prune, linear(library), linear(library)
    second.weight.data.mul_(0.5)
    places = [(first, "weight"), (second, "weight")]
    p.global_unstructured(places, p.L1Unstructured, amount=0.3)
    return [first.weight.detach(), second.weight.detach()]


def by_own_method(library: Any) -> Any:
    p, module = library.nn.utils.prune, linear(library)

    class Alternate(p.BasePruningMethod):  # type: ignore[name-defined, misc]
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    p.ln_structured(module, "weight", 0.25, 1, 0)
    Alternate.apply(module, "weight")
    hook = p.L1Unstructured.apply(module, "weight", 3)
    free = Alternate().prune(library.tensor(W)).sum()
    kinds = [type(method).__name__ for method in hook]
    return [kinds, len(hook), hook._tensor_name, module.weight_mask, module.weight.detach(), free]


def globally(library: Any, method: str, **options: Any) -> Any:
    p, module = library.nn.utils.prune, linear(library)
    scores = {(module, "bias"): library.arange(4.0).double() / 5}
    places = [(module, "weight"), (module, "bias")]
    p.global_unstructured(places, getattr(p, method), importance_scores=scores, **options)
    return [module.weight_mask, module.bias_mask]


def fake(library: Any, *args: Any) -> Any:
    x = library.tensor(W, dtype=library.float32, requires_grad=True)
    found = library.fake_quantize_per_tensor_affine(x, *args)
    found.pow(2).sum().backward()
    return [found.detach(), x.grad]


def fake_channels(library: Any, axis: int, size: int) -> Any:
    x = library.tensor(W, dtype=library.float32, requires_grad=True)
    scale = library.linspace(0.05, 0.4, size)
    zero = library.arange(size, dtype=library.int32) - 2
    found = library.fake_quantize_per_channel_affine(x, scale, zero, axis, -8, 7)
    found.sum().backward()
    return [found.detach(), x.grad]


def padded(library: Any, **options: Any) -> Any:
    conv = library.nn.Conv2d(2, 3, 3, dtype=library.float64, **options)
    with library.no_grad():
        for parameter in conv.parameters():
            count = parameter.numel()
            parameter.copy_(library.arange(count).double().view(parameter.shape) / 10 - 1)
    x = library.tensor(X, requires_grad=True)
    conv(x).pow(2).sum().backward()
    return [repr(conv), x.grad, conv.weight.grad]


def pretrained(library: Any, kind: str, **options: Any) -> Any:
    module = getattr(library.nn, kind).from_pretrained(library.tensor(W), **options)
    index = library.tensor([[0, 2], [3, 3]])
    return [module(index).detach(), module.weight.requires_grad, repr(module)]


def replaced(library: Any) -> Any:
    module = linear(library)
    with library.no_grad():
        module.bias.set_(library.ones(4, dtype=library.float64))
    module(library.tensor(W)).sum().backward()
    return [module.bias.detach(), module.bias.grad]


CASES: dict[str, Behaviour] = {
    "l1": lambda g: pruned(g, lambda p, lib, m: p.l1_unstructured(m, "weight", 0.4)),
    "l1, a number": lambda g: pruned(g, lambda p, lib, m: p.l1_unstructured(m, "weight", 5)),
    "l1 of scores": lambda g: pruned(
        g,
        lambda p, lib, m: p.l1_unstructured(
            m, "weight", 5, importance_scores=lib.arange(24.0).double().view(4, 6)
        ),
    ),
    "twice": lambda g: pruned(
        g,
        lambda p, lib, m: p.l1_unstructured(p.l1_unstructured(m, "weight", 0.4), "weight", 0.5),
    ),
    "rows": lambda g: pruned(g, lambda p, lib, m: p.ln_structured(m, "weight", 0.5, 2, 0)),
    "columns": lambda g: pruned(
        g, lambda p, lib, m: p.ln_structured(m, "weight", 2, float("inf"), 1)
    ),
    "identity": lambda g: pruned(g, lambda p, lib, m: p.identity(m, "weight")),
    "a mask": lambda g: pruned(
        g, lambda p, lib, m: p.custom_from_mask(m, "weight", lib.tensor(MASK))
    ),
    "all of them": both_pruned,
    "by a method of one's own": by_own_method,
    "columns twice": lambda g: pruned(
        g,
        lambda p, lib, m: p.ln_structured(
            p.ln_structured(m, "weight", 0.5, 1, 1), "weight", 1, 2, 1
        ),
    ),
    "all, by scores": lambda g: globally(g, "L1Unstructured", amount=9),
    "all, by columns": lambda g: attempt(lambda: globally(g, "LnStructured", amount=0.5, n=2)),
    "columns of a vector": lambda g: attempt(
        lambda: g.nn.utils.prune.ln_structured(linear(g), "bias", 0.5, 2, 0)
    ),
    "no such dimension": lambda g: attempt(
        lambda: g.nn.utils.prune.ln_structured(linear(g), "weight", 0.5, 2, 2)
    ),
    "scores of another shape": lambda g: attempt(
        lambda: g.nn.utils.prune.l1_unstructured(linear(g), "weight", 2, g.ones(3))
    ),
    "too much": lambda g: attempt(
        lambda: g.nn.utils.prune.l1_unstructured(linear(g), "weight", 1.5)
    ),
    "too many": lambda g: attempt(
        lambda: g.nn.utils.prune.l1_unstructured(linear(g), "weight", 100)
    ),
    "not pruned": lambda g: attempt(lambda: g.nn.utils.prune.remove(linear(g), "weight")),
    "quantised": lambda g: fake(g, 0.1, 3, 0, 15),
    "quantised by tensors": lambda g: fake(
        g, g.tensor([0.07]), g.tensor([0], dtype=g.int32), -128, 127
    ),
    "a zero point outside": lambda g: attempt(lambda: fake(g, 0.1, 30, 0, 15)),
    "bounds the wrong way": lambda g: attempt(lambda: fake(g, 0.1, 3, 15, 0)),
    "quantised rows": lambda g: fake_channels(g, 0, 4),
    "quantised columns": lambda g: fake_channels(g, 1, 6),
    "scales for none": lambda g: attempt(lambda: fake_channels(g, 1, 4)),
    "reflected": lambda g: padded(g, padding=2, padding_mode="reflect"),
    "replicated": lambda g: padded(g, padding=(1, 2), padding_mode="replicate", stride=2),
    "circular, the same": lambda g: padded(
        g, padding="same", padding_mode="circular", dilation=2, groups=1
    ),
    "replicated, none": lambda g: padded(g, padding="valid", padding_mode="replicate"),
    "no such padding": lambda g: attempt(lambda: g.nn.Conv1d(1, 1, 1, padding_mode="mirror")),
    "a table": lambda g: pretrained(g, "Embedding", padding_idx=1),
    "a trained table": lambda g: pretrained(g, "Embedding", freeze=False),
    "a bag": lambda g: pretrained(g, "EmbeddingBag", mode="sum"),
    "no table": lambda g: attempt(lambda: g.nn.Embedding.from_pretrained(g.ones(3))),
    "a parameter replaced": replaced,
    "on the CPU": lambda g: [
        g.nn.LSTM(2, 3, device="cpu").weight_ih_l0.shape[0],
        g.nn.Transformer(4, 2, 1, 1, 8, device="cpu", dtype=g.float64).d_model,
        g.nn.BatchNorm1d(3, device="cpu", dtype=g.float64).weight.dtype == g.float64,
    ],
    "a norm without shift": lambda g: [
        repr(g.nn.BatchNorm2d(3, bias=False)),
        sorted(g.nn.BatchNorm2d(3, bias=False).state_dict()),
    ],
    "casts": lambda g: [
        g.nn.BatchNorm1d(2).type(g.float64).num_batches_tracked.dtype == g.float64,
        list(g.nn.Linear(2, 3).to_empty(device="cpu").weight.shape),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_same(torch: Any, name: str) -> None:
    import torch.nn.utils.prune

    assert_same(CASES[name], torch)


def test_what_is_drawn_is_pruned() -> None:
    import gradspec as gs

    for prune in ("random_unstructured", "random_structured"):
        gs.manual_seed(0)
        module = linear(gs)
        options = {"dim": 0} if "structured" in prune and "un" not in prune else {}
        getattr(gs.nn.utils.prune, prune)(module, "weight", amount=0.5, **options)
        assert int((module.weight == 0).sum()) == 12


def test_another_device_is_refused() -> None:
    import gradspec as gs

    with pytest.raises(RuntimeError, match="no device 'cuda'"):
        gs.nn.Linear(2, 3, device="cuda")


def test_masks_of_another_shape(torch):
    def behaviour(library):
        layer = library.nn.Linear(2, 3)
        mask = library.ones(4)
        return attempt(lambda: library.nn.utils.prune.custom_from_mask(layer, "bias", mask))

    assert_same(behaviour, torch)


@pytest.mark.parametrize("zero", [3, np.array(125, np.int32)], ids=["number", "tensor"])
def test_halves_are_rounded_before_the_zero_point_is_added(torch: Any, zero: Any) -> None:
    values = (np.arange(-200, 200) / 2 * 0.25).astype(np.float32)

    def behaviour(library: Any) -> Any:
        point = zero if isinstance(zero, int) else library.tensor(zero)
        scale = 0.25 if isinstance(zero, int) else library.tensor(0.25)
        whole = library.fake_quantize_per_tensor_affine(
            library.tensor(values), scale, point, 0, 255
        )
        rows = library.tensor(np.stack([values, values]))
        scales, zeros = library.tensor([0.25, 0.5]), library.tensor([5, 6]).to(library.int32)
        by_row = library.fake_quantize_per_channel_affine(rows, scales, zeros, 0, 0, 255)
        return whole.tolist(), by_row.tolist()

    assert behaviour(gs) == behaviour(torch)


def test_grids_of_double_precision_are_those_of_single(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        x = library.tensor([0.31, -0.26, 0.7], dtype=library.float64)
        return library.fake_quantize_per_tensor_affine(x, 0.1, 0, -8, 7).tolist()

    assert behaviour(gs) == behaviour(torch)
