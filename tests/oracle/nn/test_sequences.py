"""Recurrent networks, attention and packed sequences beside PyTorch's, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

NETWORKS: list[tuple[str, dict[str, Any]]] = [
    *((kind, {}) for kind in ("RNN", "LSTM", "GRU")),
    *((kind, {"num_layers": 2, "bidirectional": True}) for kind in ("RNN", "LSTM", "GRU")),
    ("RNN", {"nonlinearity": "relu", "bias": False, "batch_first": True}),
    ("LSTM", {"proj_size": 2, "num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("LSTM", {"proj_size": 3, "bias": False}),
    ("GRU", {"num_layers": 3, "bias": False}),
]


def pair(kind: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Return the module of both libraries, with PyTorch's parameters."""
    import torch

    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(*args, **options, dtype=torch.float64)
    mine = getattr(gs.nn, kind)(*args, **options, dtype=gs.float64)
    assert repr(mine) == repr(theirs)
    pairs = zip(mine.named_parameters(), theirs.named_parameters(), strict=True)
    for (name, parameter), (wanted, values) in pairs:
        assert name == wanted
        parameter.data = gs.tensor(values.detach().numpy())
    return mine, theirs


def flat(value: Any) -> list[Any]:
    """The tensors of nested tuples; None where there is none."""
    if isinstance(value, tuple | list):
        return [item for part in value for item in flat(part)]
    return [value]


def assert_close(mine: Any, theirs: Any) -> None:
    """Equal tensors, and None in the same places."""
    for a, b in zip(flat(mine), flat(theirs), strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert str(a.dtype) == str(b.dtype).removeprefix("torch.")
            values = np.asarray(a.detach().numpy()), b.detach().numpy()
            np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-12)


def compare(mine: Any, theirs: Any, *arrays: Any, **options: Any) -> None:
    """Outputs and gradients of both modules are the same."""
    import torch

    answers = []
    for lib, module in ((gs, mine), (torch, theirs)):
        leaves = [lib.tensor(array, requires_grad=True) for array in arrays]
        given = {
            key: lib.tensor(value) if isinstance(value, np.ndarray) else value
            for key, value in options.items()
        }
        found = module(*leaves, **given)
        total = sum((part**2).sum() for part in flat(found) if part is not None)
        wanted = [*leaves, *module.parameters()]
        grads = lib.autograd.grad(total, wanted, allow_unused=True)
        answers.append((found, list(grads)))
    assert_close(answers[0][0], answers[1][0])
    assert_close(answers[0][1], answers[1][1])


@pytest.mark.parametrize(("kind", "options"), NETWORKS)
def test_network(kind: str, options: dict[str, Any]) -> None:
    mine, theirs = pair(kind, 3, 4, **options)
    rng = np.random.default_rng(0)
    compare(mine, theirs, rng.normal(size=(5, 2, 3)))
    compare(mine, theirs, rng.normal(size=(5, 3)))


@pytest.mark.parametrize(("kind", "options"), NETWORKS)
def test_packed(kind: str, options: dict[str, Any]) -> None:
    import torch

    mine, theirs = pair(kind, 3, 4, **options)
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(length, 3)) for length in (2, 5, 3)]
    answers = []
    for lib, module in ((gs, mine), (torch, theirs)):
        rnn = lib.nn.utils.rnn
        leaves = [lib.tensor(array, requires_grad=True) for array in sequences]
        packed = rnn.pack_sequence(leaves, enforce_sorted=False)
        output, last = module(packed)
        padded, lengths = rnn.pad_packed_sequence(output, padding_value=-1.0, total_length=6)
        parts = rnn.unpack_sequence(output)
        grads = lib.autograd.grad((padded**2).sum(), leaves)
        answers.append([tuple(packed), padded, lengths, last, parts, list(grads)])
    assert_close(*answers)


def test_first_states() -> None:
    mine, theirs = pair("LSTM", 3, 4, 2)
    import torch

    rng = np.random.default_rng(0)
    x, h, c = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 4))
    answers = [
        module(lib.tensor(x), (lib.tensor(h), lib.tensor(c)))
        for lib, module in ((gs, mine), (torch, theirs))
    ]
    assert_close(*answers)


def test_functions() -> None:
    """The functions at the top level, on the weights of a module."""
    import torch

    rng = np.random.default_rng(0)
    x, h = rng.normal(size=(3, 2, 3)), rng.normal(size=(1, 2, 4))
    for kind, names in (("RNN", ("rnn_tanh", "rnn_relu")), ("GRU", ("gru",))):
        mine, theirs = pair(kind, 3, 4)
        for name in names:
            answers = [
                getattr(lib, name)(
                    *(lib.tensor(x), lib.tensor(h), list(module.parameters())),
                    *(True, 1, 0.0, False, False, False),
                )
                for lib, module in ((gs, mine), (torch, theirs))
            ]
            assert_close(*answers)


LENGTH = 3
TRIANGLE = np.triu(np.ones((LENGTH, LENGTH), bool), 1)
PADDING = np.array([[False] * (LENGTH - 1) + [True]] * 2)

CALLS: list[dict[str, Any]] = [
    {},
    {"need_weights": False},
    {"average_attn_weights": False},
    {"attn_mask": TRIANGLE},
    {"attn_mask": TRIANGLE, "key_padding_mask": PADDING, "need_weights": False},
    {"attn_mask": TRIANGLE, "is_causal": True, "need_weights": False},
    {"attn_mask": np.linspace(-1, 1, 4 * LENGTH**2).reshape(4, LENGTH, LENGTH)},
]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bias": False},
        {"add_bias_kv": True},
        {"add_zero_attn": True},
        {"kdim": 3, "vdim": 5},
        {"batch_first": True},
    ],
)
def test_attention(options: dict[str, Any]) -> None:
    mine, theirs = pair("MultiheadAttention", 4, 2, **options)
    rng = np.random.default_rng(0)
    shape = (2, LENGTH) if options.get("batch_first") else (LENGTH, 2)
    widths = (4, options.get("kdim", 4), options.get("vdim", 4))
    arrays = [rng.normal(size=(*shape, width)) for width in widths]
    for call in CALLS:
        compare(mine, theirs, *arrays, **call)
    compare(mine, theirs, *[rng.normal(size=(LENGTH, width)) for width in widths])


def test_bilinear() -> None:
    mine, theirs = pair("Bilinear", 3, 4, 5)
    rng = np.random.default_rng(0)
    compare(mine, theirs, rng.normal(size=(2, 6, 3)), rng.normal(size=(2, 6, 4)))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags(mode: str) -> None:
    import torch

    mine, theirs = pair("EmbeddingBag", 7, 3, mode=mode, padding_idx=2)
    indices = np.array([1, 2, 2, 6, 1, 0])
    for offsets in ([0, 2, 2, 5], [0, 1, 3]):
        answers = []
        for lib, module in ((gs, mine), (torch, theirs)):
            found = module(lib.tensor(indices), lib.tensor(offsets))
            grads = lib.autograd.grad((found**2).sum(), list(module.parameters()))
            answers.append([found, list(grads)])
        assert_close(*answers)
    rows = indices.reshape(2, 3)
    assert_close(mine(gs.tensor(rows)), theirs(torch.tensor(rows)))


@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_pools(dims: int) -> None:
    import torch

    rng = np.random.default_rng(0)
    array, drawn = rng.normal(size=(2, 3, *(9, 8, 7)[:dims])), rng.random((2, 3, dims))
    name = f"fractional_max_pool{dims}d"
    for kernel, size in ((2, 3), (3, 4), ((2, 3, 2)[:dims], (3, 2, 1)[:dims])):
        answers = []
        for lib in (gs, torch):
            x = lib.tensor(array, requires_grad=True)
            found, places = getattr(lib.nn.functional, name)(
                x, kernel, size, return_indices=True, _random_samples=lib.tensor(drawn)
            )
            answers.append([found, places, *lib.autograd.grad((found**2).sum(), x)])
        assert_close(*answers)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_grids_to_the_last_bit(dtype: str, align_corners: bool) -> None:
    """Gradient of the identity: an index off by one rounding may be on the other side of a kink."""
    import torch

    for size in (*range(1, 34), 100, 255, 256, 1001):
        grids = []
        for lib in (gs, torch):
            theta = lib.eye(2, 3, dtype=getattr(lib, dtype)).unsqueeze(0)
            grid = lib.nn.functional.affine_grid(theta, (1, 1, size, 3), align_corners)
            grids.append(grid.numpy())
        np.testing.assert_array_equal(*grids)


def test_functions_of_kernels() -> None:
    import torch

    rng = np.random.default_rng(0)
    a, w, b = rng.normal(size=(5, 2, 3)), rng.normal(size=(2, 3, 4)), rng.normal(size=4)
    image, scale = rng.normal(size=(2, 4, 3)), rng.normal(size=4)
    answers = []
    for lib in (gs, torch):
        x, weight, bias, g = (lib.tensor(each) for each in (a, w, b, scale))
        answers.append(
            [
                lib.conv_tbc(x, weight, bias, 1),
                lib.native_group_norm(lib.tensor(image), g, g, 2, 4, 3, 2, 1e-5),
                lib.native_channel_shuffle(lib.tensor(image).unsqueeze(-1), 2),
                lib._weight_norm_interface(weight, weight[:, :1, :1].contiguous()),
                lib.norm_except_dim(weight, 2, 1),
                lib.nuclear_norm(weight[0]),
                lib.frobenius_norm(weight, (0, 2)),
                lib._trilinear(weight[0], weight[1], weight[0], [0], [1], [0], [2]),
            ]
        )
    assert_close(*answers)


STFT: list[dict[str, Any]] = [
    {"n_fft": 8},
    {"n_fft": 8, "hop_length": 3, "win_length": 6},
    {"n_fft": 7, "center": False},
    {"n_fft": 8, "normalized": True, "onesided": False},
]


@pytest.mark.parametrize("options", STFT)
def test_signals_and_back(options: dict[str, Any]) -> None:
    import torch

    rng = np.random.default_rng(0)
    signal = rng.normal(size=(2, 40))
    window = rng.random(options.get("win_length", options["n_fft"])) + 0.5
    answers = []
    for lib in (gs, torch):
        x = lib.tensor(signal, requires_grad=True)
        w = lib.tensor(window)
        found = lib.stft(x, window=w, return_complex=True, **options)
        back = lib.istft(found * (1 + 0.5j), window=w, **options)
        cut = lib.istft(found, window=w, length=30, **options)
        (grad,) = lib.autograd.grad((back**3).sum() + (cut**2).sum(), x)
        answers.append([found.abs(), back, cut, grad])
    assert_close(*answers)
