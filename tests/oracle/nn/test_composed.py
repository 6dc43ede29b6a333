"""Functions that are composed by hand, and the modules of layers, against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs
import gradspec.nn.functional as nn_functional

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:Using padding")]

RNG = np.random.default_rng(0)


def _normal(*shape: int) -> Any:
    return RNG.normal(size=shape)


QUERY, KEY, VALUE = _normal(2, 4, 3, 5), _normal(2, 4, 6, 5), _normal(2, 4, 6, 2)
HIDING = RNG.random((3, 6)) < 0.5
HIDING[1] = False

CALLS: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "attention": ("scaled_dot_product_attention", [QUERY, KEY, VALUE], {}),
    "causal": ("scaled_dot_product_attention", [QUERY, KEY, VALUE], {"is_causal": True}),
    "scale": ("scaled_dot_product_attention", [QUERY, KEY, VALUE], {"scale": 0.3}),
    "mask added": (
        "scaled_dot_product_attention",
        [QUERY, KEY, VALUE],
        {"attn_mask": _normal(4, 3, 6)},
    ),
    "mask with a row that hides all": (
        "scaled_dot_product_attention",
        [QUERY, KEY, VALUE],
        {"attn_mask": HIDING},
    ),
    "shared heads": (
        "scaled_dot_product_attention",
        [QUERY, KEY[:, :2], VALUE[:, :2]],
        {"enable_gqa": True},
    ),
    "a mask beside is_causal": (
        "scaled_dot_product_attention",
        [QUERY, KEY[:, :2], KEY[:, 2:]],
        {"attn_mask": HIDING, "is_causal": True, "enable_gqa": True},
    ),
    "leaky_relu": ("leaky_relu", [_normal(2, 3)], {"negative_slope": 0.2}),
    "dropout of nothing": ("dropout", [_normal(2, 3)], {"p": 0.0}),
    "dropout of all": ("dropout", [_normal(2, 3)], {"p": 1.0}),
    "dropout in evaluation": ("dropout", [_normal(2, 3)], {"training": False}),
    "max_pool2d": (
        "max_pool2d",
        [_normal(2, 3, 5, 6)],
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    ),
    "conv2d same": (
        "conv2d",
        [_normal(2, 2, 4, 5), _normal(4, 1, 2, 3)],
        {"padding": "same", "groups": 2},
    ),
    "conv_transpose2d": (
        "conv_transpose2d",
        [_normal(1, 4, 3, 2), _normal(4, 2, 3, 2), _normal(4)],
        {"stride": (2, 3), "padding": 1, "output_padding": (1, 2), "groups": 2, "dilation": (2, 1)},
    ),
    "avg_pool2d": (
        "avg_pool2d",
        [_normal(2, 3, 5, 6)],
        {"kernel_size": (3, 2), "stride": 2, "padding": 1, "count_include_pad": False},
    ),
    "adaptive_avg_pool2d": ("adaptive_avg_pool2d", [_normal(2, 5, 7)], {"output_size": (3, None)}),
    "circular padding": ("pad", [_normal(1, 2, 3)], {"pad": (2, -1), "mode": "circular"}),
}


def _compare(mine: Any, theirs: Any) -> None:
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-9, 1e-12)


@pytest.mark.parametrize("label", CALLS)
def test_values_and_gradients(label: str) -> None:
    import torch

    name, arrays, options = CALLS[label]
    mine = [gs.tensor(a, requires_grad=True) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = getattr(nn_functional, name)(*mine, **_converted(options, gs.tensor))
    expected = getattr(torch.nn.functional, name)(*theirs, **_converted(options, torch.tensor))
    _compare(out, expected)
    weights = np.cos(np.arange(out.numel())).reshape(out.shape)
    (out * gs.tensor(weights)).sum().backward()
    (expected * torch.tensor(weights)).sum().backward()
    for a, b in zip(mine, theirs, strict=True):
        _compare(a.grad, b.grad)


def _converted(options: dict[str, Any], tensor: Any) -> dict[str, Any]:
    return {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}


def test_max_pool_with_indices() -> None:
    import torch

    image = np.round(_normal(2, 3, 5, 6))  # with ties, of which the first counts
    image[0, 0, 2, 2] = np.nan
    options = {"kernel_size": 2, "stride": 1, "padding": 1, "dilation": 2, "return_indices": True}
    values, places = nn_functional.max_pool2d(gs.tensor(image), **options)
    expected, expected_places = torch.nn.functional.max_pool2d(torch.tensor(image), **options)
    _compare(values, expected)
    _compare(places, expected_places)


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": -2}, {"max_norm": 1.0}, {"scale_grad_by_freq": True}]
)
def test_embedding(options: dict[str, Any]) -> None:
    import torch

    table, places = _normal(5, 3), np.array([[0, 3, 3], [4, 0, 3]])
    mine = gs.tensor(table, requires_grad=True)
    theirs = torch.tensor(table, requires_grad=True)
    out = nn_functional.embedding(gs.tensor(places), mine, **options)
    expected = torch.nn.functional.embedding(torch.tensor(places), theirs, **options)
    _compare(out, expected)
    (out * out).sum().backward()
    (expected * expected).sum().backward()
    _compare(mine.grad, theirs.grad)
    _compare(mine, theirs)


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_module(momentum: float | None) -> None:
    import torch

    mine = gs.nn.BatchNorm2d(3, momentum=momentum, dtype=gs.float64)
    theirs = torch.nn.BatchNorm2d(3, momentum=momentum, dtype=torch.float64)
    for _ in range(2):
        image = _normal(2, 3, 4, 4)
        _compare(mine(gs.tensor(image)), theirs(torch.tensor(image)))
    _compare(mine.running_mean, theirs.running_mean)
    _compare(mine.running_var, theirs.running_var)
    mine.eval()
    theirs.eval()
    _compare(mine(gs.tensor(image)), theirs(torch.tensor(image)))


REFUSED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "channels": ("conv2d", (_normal(1, 3, 4, 4), _normal(2, 2, 2, 2)), {}),
    "kernel larger than the image": ("conv2d", (_normal(1, 1, 2, 2), _normal(1, 1, 3, 3)), {}),
    "dimensions": ("conv1d", (_normal(1, 1, 4, 4), _normal(1, 1, 2, 2)), {}),
    "groups": ("conv1d", (_normal(1, 2, 4), _normal(3, 1, 2)), {"groups": 2}),
    "padding by a word": ("conv1d", (_normal(1, 1, 4), _normal(1, 1, 2)), {"padding": "half"}),
    "same with a stride": (
        "conv1d",
        (_normal(1, 1, 4), _normal(1, 1, 2)),
        {"padding": "same", "stride": 2},
    ),
    "padding of a pool": ("max_pool2d", (_normal(1, 4, 4), 2), {"padding": 2}),
    "reflection": ("pad", (_normal(1, 3), (3, 0)), {"mode": "reflect"}),
    "probability": ("dropout", (_normal(2), 1.5), {}),
    "normalized_shape": ("layer_norm", (_normal(2, 3), (2,)), {}),
    "one value a channel": ("batch_norm", (_normal(1, 3), None, None), {"training": True}),
    "probabilities": ("binary_cross_entropy", (np.array([1.5]), np.array([1.0])), {}),
}


@pytest.mark.parametrize("label", REFUSED)
def test_refusals(label: str) -> None:
    import torch

    name, args, options = REFUSED[label]

    def given(tensor: Any) -> list[Any]:
        return [tensor(a) if isinstance(a, np.ndarray) else a for a in args]

    with pytest.raises((RuntimeError, ValueError, IndexError)) as expected:
        getattr(torch.nn.functional, name)(*given(torch.tensor), **options)
    with pytest.raises(type(expected.value)):
        getattr(nn_functional, name)(*given(gs.tensor), **options)


def test_sparse_gradients_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="sparse"):
        nn_functional.embedding(gs.tensor([0]), gs.ones(2, 2), sparse=True)


@pytest.mark.parametrize("p", [0.0, 0.3])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "float32"])
@pytest.mark.parametrize(
    "name", ["dropout", "dropout1d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"]
)
def test_dropout_does_not_scale_integers(
    torch: Any, name: str, dtype: str, training: bool, p: float
) -> None:
    def is_refused(lib: Any) -> bool:
        x = lib.ones(2, 3, dtype=getattr(lib, dtype))
        if name == "dropout3d":
            x = x.reshape(2, 3, 1, 1, 1)
        try:
            getattr(lib.nn.functional, name)(x, p, training)
        except RuntimeError:
            return True
        return False

    assert is_refused(gs) == is_refused(torch)
