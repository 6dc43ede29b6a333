"""Convolutions of examples with weights of their own, by `vmap`: at once, as PyTorch."""

import numpy as np
import pytest
import torch

import gradspec as gs
from gradspec.batching import call

CALLS = {
    "1d": ("conv1d", (2, 4, 7), (6, 4, 3), {}),
    "1d, groups, strides": ("conv1d", (2, 4, 9), (6, 2, 3), {"groups": 2, "stride": 2}),
    "1d, same": ("conv1d", (1, 2, 6), (2, 2, 4), {"padding": "same", "dilation": 2}),
    "2d": ("conv2d", (3, 2, 5, 6), (4, 2, 3, 2), {"padding": (1, 0)}),
    "2d, one of a batch": ("conv2d", (2, 5, 6), (4, 2, 3, 2), {"dilation": (2, 1)}),
    "2d, a group each": ("conv2d", (2, 4, 5, 5), (4, 1, 3, 3), {"groups": 4}),
    "3d": ("conv3d", (1, 1, 3, 4, 3), (2, 1, 2, 2, 2), {}),
    "1d, transposed": ("conv_transpose1d", (2, 4, 5), (4, 3, 3), {"stride": 2, "groups": 2}),
    "2d, transposed": (
        "conv_transpose2d",
        (1, 2, 3, 3),
        (2, 3, 3, 3),
        {"stride": 2, "padding": 1, "output_padding": 1},
    ),
}


def _values(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def _function(lib, name, options, with_bias):
    convolution = getattr(lib.nn.functional, name)

    def function(weight, x, bias):
        result = convolution(x, weight, bias if with_bias else None, **options)
        return (result.sin() * result).sum()

    return function


@pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("call_name", CALLS)
def test_derivatives_of_examples(call_name, with_bias):
    name, x_shape, weight_shape, options = CALLS[call_name]
    groups = options.get("groups", 1)
    channels = weight_shape[1] * groups if "transpose" in name else weight_shape[0]
    arrays = [_values((3, *x_shape), 0), _values((3, *weight_shape), 1), _values((3, channels), 2)]
    x, weight, bias = arrays
    found = []
    before = call.loops["_convolution"]
    for lib in (gs, torch):
        f = _function(lib, name, options, with_bias)
        all_, one = (
            [lib.tensor(a) for a in (weight, x, bias)],
            [
                lib.tensor(weight[0]),
                lib.tensor(x),
                lib.tensor(bias[0]),
            ],
        )
        slopes = lib.func.grad(f, argnums=(0, 1, 2))
        second = lib.func.grad(lambda *args, f=f, lib=lib: lib.func.grad(f)(*args).square().sum())
        tangent = lib.func.jvp(lib.func.vmap(f), tuple(all_), tuple(a.cos() for a in all_))[1]
        found.append(
            [
                *lib.func.vmap(slopes)(*all_),
                lib.func.vmap(slopes, in_dims=(None, 0, None))(*one)[0],
                lib.func.vmap(second, in_dims=(None, 0, None))(*one),
                tangent,
            ]
        )
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-9)
    assert call.loops["_convolution"] == before


def test_examples_of_examples():
    x, weight = _values((2, 3, 1, 2, 6), 0), _values((2, 3, 4, 2, 3), 1)
    found = []
    for lib in (gs, torch):
        slope = lib.func.grad(lambda w, x, lib=lib: lib.nn.functional.conv1d(x, w).exp().sum())
        each = lib.func.vmap(lib.func.vmap(slope))
        found.append(each(lib.tensor(weight), lib.tensor(x)).numpy())
    np.testing.assert_allclose(*found, rtol=1e-10)
