"""Modules of layers beside PyTorch's: the same parameters, outputs and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

Shape = tuple[int, ...]
IMAGE, LINE, VOLUME = (2, 4, 5, 6), (2, 4, 7), (1, 2, 4, 4, 5)

WITH_PARAMETERS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any], Shape]]] = {
    "GroupNorm": [((2, 4), {}, IMAGE), ((4, 4), {"affine": False}, LINE)],
    "RMSNorm": [((6,), {}, IMAGE), (((5, 6),), {"eps": 0.1}, IMAGE)],
    "InstanceNorm1d": [((4,), {}, LINE), ((4,), {"affine": True}, (4, 7))],
    "InstanceNorm2d": [((4,), {"affine": True, "track_running_stats": True}, IMAGE)],
    "InstanceNorm3d": [((2,), {}, VOLUME)],
    "BatchNorm3d": [((2,), {}, VOLUME)],
    "ConvTranspose1d": [((4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}, LINE)],
    "ConvTranspose2d": [
        ((4, 6, (3, 2)), {"stride": 2, "groups": 2, "bias": False}, IMAGE),
        ((4, 2, 3), {"dilation": 2}, (4, 5, 6)),
    ],
    "ConvTranspose3d": [((2, 3, 2), {"padding": 1}, VOLUME)],
    "RNNCell": [((3, 4), {}, (2, 3)), ((3, 4), {"nonlinearity": "relu", "bias": False}, (3,))],
    "LSTMCell": [((3, 4), {}, (2, 3)), ((3, 4), {"bias": False}, (3,))],
    "GRUCell": [((3, 4), {}, (2, 3)), ((3, 4), {"bias": False}, (3,))],
}

WITHOUT_PARAMETERS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any], Shape]]] = {
    "PixelShuffle": [((2,), {}, IMAGE)],
    "PixelUnshuffle": [((2,), {}, (2, 3, 4, 6))],
    "ChannelShuffle": [((2,), {}, IMAGE)],
    "Unfold": [((2,), {"stride": 2}, IMAGE)],
    "Fold": [((3, 2), {}, (1, 4, 4))],
    "Unflatten": [((1, (2, 2)), {}, IMAGE)],
    "Upsample": [
        ((), {"scale_factor": 1.5, "mode": "bilinear"}, IMAGE),
        ((), {"scale_factor": (2, 3)}, IMAGE),
        (((3, 4),), {"mode": "bicubic", "align_corners": True}, IMAGE),
    ],
    "UpsamplingNearest2d": [((), {"scale_factor": 2}, IMAGE)],
    "UpsamplingBilinear2d": [(((3, 4),), {}, IMAGE)],
    "LocalResponseNorm": [((2,), {}, IMAGE)],
    "MaxPool1d": [((2,), {"padding": 1}, LINE)],
    "MaxPool2d": [((2,), {"dilation": 2}, IMAGE)],
    "MaxPool3d": [((2,), {"ceil_mode": True}, VOLUME)],
    "AvgPool1d": [((2,), {"stride": 1}, LINE)],
    "AvgPool2d": [((2,), {"divisor_override": 3}, IMAGE)],
    "AvgPool3d": [((2,), {"padding": 1, "count_include_pad": False}, VOLUME)],
    "LPPool1d": [((2, 3), {}, LINE)],
    "LPPool2d": [((2, 2), {"stride": 1}, IMAGE)],
    "LPPool3d": [((2, 2), {"ceil_mode": True}, VOLUME)],
    "AdaptiveAvgPool1d": [((3,), {}, LINE)],
    "AdaptiveAvgPool2d": [(((3, None),), {}, IMAGE)],
    "AdaptiveAvgPool3d": [((2,), {}, VOLUME)],
    "AdaptiveMaxPool1d": [((3,), {}, LINE)],
    "AdaptiveMaxPool2d": [(((3, None),), {}, IMAGE)],
    "AdaptiveMaxPool3d": [((2,), {}, VOLUME)],
    **{
        f"{kind}Pad{d}d": [((1,), {}, shape), ((tuple(range(2 * d)),), {}, shape)]
        for kind in ("Zero", "Reflection", "Replication", "Circular")
        for d, shape in ((1, LINE), (2, (2, 1, 7, 7)), (3, (1, 1, 7, 7, 7)))
    },
    **{
        f"ConstantPad{d}d": [((1, 2.5), {}, shape)]
        for d, shape in ((1, LINE), (2, IMAGE), (3, VOLUME))
    },
    **{name: [((1.0,), {}, IMAGE)] for name in ("Dropout2d", "AlphaDropout", "Dropout1d")},
}
WITHOUT_PARAMETERS["Dropout1d"] = [((1.0,), {}, LINE)]
WITHOUT_PARAMETERS["Dropout3d"] = [((1.0,), {}, VOLUME)]
WITHOUT_PARAMETERS["FeatureAlphaDropout"] = [((1.0,), {}, IMAGE)]


def _run(lib: Any, module: Any, shape: Shape) -> list[Any]:
    """Outputs, then the gradients of the input and of all parameters, as arrays."""
    values = np.cos(1.0 + np.arange(int(np.prod(shape)))).reshape(shape)
    x = lib.tensor(values, requires_grad=True)
    out = module(x)
    outputs = list(out) if isinstance(out, tuple) else [out]
    total = 0
    for tensor in outputs:
        weights = np.sin(2.0 + np.arange(tensor.numel())).reshape(tuple(tensor.shape))
        total = total + (tensor * lib.tensor(weights)).sum()
    total.backward()
    gradients = [tensor.grad for tensor in (x, *module.parameters())]
    return [tensor.detach().numpy() for tensor in (*outputs, *gradients)]


def _given(cases: dict[str, list[tuple[tuple[Any, ...], dict[str, Any], Shape]]]) -> list[Any]:
    return [
        pytest.param(name, *case, id=f"{name}-{number}")
        for name, several in cases.items()
        for number, case in enumerate(several)
    ]


@pytest.mark.parametrize(("name", "args", "options", "shape"), _given(WITH_PARAMETERS))
def test_with_parameters(
    name: str, args: tuple[Any, ...], options: dict[str, Any], shape: Shape
) -> None:
    import torch

    mine = getattr(gs.nn, name)(*args, dtype=gs.float64, **options)
    theirs = getattr(torch.nn, name)(*args, dtype=torch.float64, **options)
    state = {key: torch.tensor(value.numpy()) for key, value in mine.state_dict().items()}
    theirs.load_state_dict(state)
    for training in (True, False):
        mine.train(training)
        theirs.train(training)
        for a, b in zip(_run(gs, mine, shape), _run(torch, theirs, shape), strict=True):
            np.testing.assert_allclose(a, b, 1e-9, 1e-12)
    for key, value in theirs.state_dict().items():
        if "batches" not in key:
            np.testing.assert_allclose(mine.state_dict()[key].numpy(), value.numpy(), 1e-9)


@pytest.mark.parametrize(("name", "args", "options", "shape"), _given(WITHOUT_PARAMETERS))
def test_without_parameters(
    name: str, args: tuple[Any, ...], options: dict[str, Any], shape: Shape
) -> None:
    import torch

    mine = getattr(gs.nn, name)(*args, **options)
    theirs = getattr(torch.nn, name)(*args, **options)
    for a, b in zip(_run(gs, mine, shape), _run(torch, theirs, shape), strict=True):
        np.testing.assert_allclose(a, b, 1e-9, 1e-12)
    assert repr(mine) == repr(theirs) or name == "AvgPool1d"


def test_initial_values_reach_as_far_as_in_pytorch() -> None:
    import torch

    torch.manual_seed(0)
    gs.manual_seed(0)

    for name, args in (
        ("ConvTranspose2d", (40, 30, 3)),
        ("LSTMCell", (50, 60)),
        ("GRUCell", (9, 60)),
    ):
        mine, theirs = (getattr(lib.nn, name)(*args) for lib in (gs, torch))
        for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
            ours, expected = a.detach().numpy(), b.detach().numpy()
            assert ours.shape == expected.shape
            np.testing.assert_allclose(np.abs(ours).max(), np.abs(expected).max(), rtol=0.15)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_unpooling_undoes_pooling(spatial: int) -> None:
    import torch

    shape = (1, 2, *(5,) * spatial)
    values = np.cos(1.0 + np.arange(int(np.prod(shape)))).reshape(shape)
    answers = []
    for lib in (gs, torch):
        pool = getattr(lib.nn, f"MaxPool{spatial}d")(2, return_indices=True)
        unpool = getattr(lib.nn, f"MaxUnpool{spatial}d")(2)
        x = lib.tensor(values)
        answers.append(unpool(*pool(x), output_size=x.shape).numpy())
    np.testing.assert_array_equal(*answers)


def test_transposed_convolution_to_a_size() -> None:
    import torch

    for size in ((4,), (5,), (1, 1, 4)):
        for lib in (gs, torch):
            layer = lib.nn.ConvTranspose1d(1, 1, 2, stride=2)
            assert layer(lib.ones(1, 1, 2), output_size=size).shape[-1] == size[-1]
    for lib in (gs, torch):
        with pytest.raises(ValueError, match="valid sizes range"):
            lib.nn.ConvTranspose1d(1, 1, 2, stride=2)(lib.ones(1, 1, 2), output_size=(6,))


REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], Shape]] = {
    "GroupNorm": ((3, 4), {}, IMAGE),
    "InstanceNorm2d": ((4,), {}, (4, 7)),
    "ConvTranspose1d": ((3, 4, 2), {"groups": 2}, LINE),
    "RNNCell": ((3, 4), {}, (1, 2, 3)),
    "Dropout1d": ((0.5,), {}, IMAGE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    import torch

    args, options, shape = REFUSED[name]
    with pytest.raises((RuntimeError, ValueError)) as expected:
        getattr(torch.nn, name)(*args, **options)(torch.ones(shape))
    with pytest.raises(type(expected.value)):
        getattr(gs.nn, name)(*args, **options)(gs.ones(shape))
