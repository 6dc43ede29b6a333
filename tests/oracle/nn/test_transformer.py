"""Transformers compute what PyTorch's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:enable_nested_tensor"),
]

OPTIONS: list[dict[str, Any]] = [
    {},
    {"batch_first": True, "norm_first": True},
    {"activation": "gelu", "bias": False},
]


def transformer(library: Any, **options: Any) -> Any:
    """A small model of known weights, without dropout."""
    model = library.nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, **options).double()
    rng = np.random.default_rng(0)
    with library.no_grad():
        for _, param in sorted(model.named_parameters()):
            param.copy_(library.tensor(rng.normal(size=tuple(param.shape)) / 3))
    return model


def inputs(library: Any, options: dict[str, Any]) -> list[Any]:
    rng = np.random.default_rng(1)
    shapes = [(3, 5, 8), (3, 4, 8)] if options.get("batch_first") else [(5, 3, 8), (4, 3, 8)]
    return [library.tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_and_gradients(torch, options):
    """Some gradients, those of the biases of keys, are zero but for rounding."""
    mine, theirs = (results(library, options) for library in (gs, torch))
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-9, atol=1e-11, err_msg=name)


def results(library: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The output and all gradients of a model, with masks."""
    model = transformer(library, **options)
    src, tgt = inputs(library, options)
    mask = library.nn.Transformer.generate_square_subsequent_mask(4, dtype=library.float64)
    hidden = library.tensor([[False] * 5, [False] * 3 + [True] * 2, [True] + [False] * 4])
    out = model(
        src,
        tgt,
        tgt_mask=mask,
        tgt_is_causal=True,
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    (out**2).sum().backward()
    found = {"out": out.detach(), "mask": mask, "src": src.grad, "tgt": tgt.grad}
    found.update({name: param.grad for name, param in model.named_parameters()})
    return {name: tensor.numpy() for name, tensor in found.items()}


def test_other_calls(torch):
    def behaviour(library: Any) -> Any:
        model = transformer(library)
        src, tgt = inputs(library, {})
        layer = library.nn.TransformerEncoderLayer(8, 2, 16, activation=library.tanh)
        return [
            model(src[:, 0], tgt[:, 0]).detach(),
            attempt(lambda: model(src, tgt[:, :2])),
            attempt(lambda: model(src[..., :6], tgt)),
            attempt(lambda: library.nn.TransformerEncoderLayer(8, 2, activation="tanh")),
            list(library.nn.TransformerEncoder(layer, 3)(src.float()).shape),
            len(list(library.nn.TransformerEncoder(layer, 3).parameters())),
        ]

    assert_same(behaviour, torch)
