"""Modules print as PyTorch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

MODULES: dict[str, Callable[[Any], Any]] = {
    "Linear": lambda nn: nn.Linear(2, 3, bias=False),
    **{
        f"Conv{d}d": lambda nn, d=d: nn.Sequential(
            getattr(nn, f"Conv{d}d")(4, 6, 3),
            getattr(nn, f"Conv{d}d")(4, 6, 3, 2, 1, 2, 2, False),
            getattr(nn, f"Conv{d}d")(4, 6, 3, padding="same"),
            getattr(nn, f"ConvTranspose{d}d")(4, 6, 3, bias=False),
            getattr(nn, f"BatchNorm{d}d")(3),
            getattr(nn, f"BatchNorm{d}d")(3, affine=False),
            getattr(nn, f"InstanceNorm{d}d")(3, affine=True),
            getattr(nn, f"AvgPool{d}d")(2),
            getattr(nn, f"AvgPool{d}d")(3, 2, 1),
            getattr(nn, f"MaxPool{d}d")(3, 2),
            getattr(nn, f"MaxUnpool{d}d")(2),
            getattr(nn, f"LPPool{d}d")(2, 3),
            getattr(nn, f"ReflectionPad{d}d")(1),
            getattr(nn, f"Dropout{d}d")(0.25),
        )
        for d in (1, 2, 3)
    },
    "norms": lambda nn: nn.Sequential(
        nn.LayerNorm(3), nn.LayerNorm((2, 3), bias=False), nn.GroupNorm(2, 4), nn.RMSNorm(3)
    ),
    "tables": lambda nn: nn.Sequential(
        nn.Embedding(3, 2), nn.Embedding(3, 2, 0, 1.0, 3.0, scale_grad_by_freq=True)
    ),
    "activations": lambda nn: nn.Sequential(
        *(nn.ReLU(), nn.ReLU(inplace=True), nn.GELU("tanh"), nn.LeakyReLU(0.2), nn.ELU()),
        *(nn.Hardtanh(), nn.Softmax(dim=1), nn.Softplus(2), nn.PReLU(3), nn.Threshold(0.1, 20)),
    ),
    "others": lambda nn: nn.ModuleList(
        [nn.Flatten(), nn.Unflatten(1, (2, 2)), nn.Identity(), nn.Upsample(scale_factor=2)]
    ),
    "cells": lambda nn: nn.ModuleList([nn.RNNCell(2, 3), nn.LSTMCell(2, 3, bias=False)]),
}


@pytest.mark.parametrize("name", MODULES)
def test_same_text(name: str) -> None:
    import torch

    assert repr(MODULES[name](gs.nn)) == repr(MODULES[name](torch.nn))


def test_same_padding_has_no_stride() -> None:
    import torch

    for nn in (gs.nn, torch.nn):
        with pytest.raises(ValueError, match="not supported for strided convolutions"):
            nn.Conv2d(1, 1, 3, stride=2, padding="same")


def test_a_name_of_ones_own() -> None:
    import torch

    def shown(nn):
        class Block(nn.Sequential):
            def _get_name(self):
                return "Residual" + super()._get_name()

        return repr(Block(nn.ReLU()))

    assert shown(gs.nn) == shown(torch.nn)
