"""Arguments that layers, losses and pooling refuse, with PyTorch's exception types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradspec as gs
from gradspec import nn

F = nn.functional

CLASSES = gs.tensor([0, 1])
ROWS = gs.zeros(2, 3)
CAUSAL = gs.ones(2, 2, dtype=gs.bool).tril()


def _indices(*shape: int) -> Any:
    return gs.zeros(*shape, dtype=gs.int64)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # ---- pooling
    "pooling of no channels": (
        lambda: F.max_pool2d(gs.ones(1, 0, 4, 4), 2),
        RuntimeError,
        "optional 0 dim batch size",
    ),
    "averages of no channels": (
        lambda: F.avg_pool2d(gs.ones(0, 4, 4), 2),
        RuntimeError,
        "3D or 4D",
    ),
    "a stride of zero": (
        lambda: F.max_pool1d(gs.ones(1, 1, 4), 2, 0),
        RuntimeError,
        "stride must be greater than zero",
    ),
    "negative padding": (
        lambda: F.max_pool1d(gs.ones(1, 1, 4), 2, 1, -1),
        RuntimeError,
        "pad must be non-negative",
    ),
    "averages of no elements": (
        lambda: F.adaptive_avg_pool2d(gs.ones(1, 1, 0, 4), 2),
        RuntimeError,
        "non-zero size for non-batch",
    ),
    "adaptive maxima of a vector": (
        lambda: F.adaptive_max_pool1d(gs.ones(4), 1),
        RuntimeError,
        "Expected 2D or 3D",
    ),
    "maxima put back to nowhere": (
        lambda: F.max_unpool2d(gs.ones(1, 2, 0), _indices(1, 2, 0), 2),
        RuntimeError,
        "non-zero size",
    ),
    "two widths for three dimensions": (
        lambda: F.max_unpool3d(gs.ones(1, 1, 2, 2, 2), _indices(1, 1, 2, 2, 2), [1, 1]),
        RuntimeError,
        "exactly 3 elements",
    ),
    "a stride of zero in a volume": (
        lambda: F.max_unpool3d(gs.ones(1, 1, 2, 2, 2), _indices(1, 1, 2, 2, 2), 2, [0, 1, 1]),
        RuntimeError,
        "strides should be greater than zero",
    ),
    "fractional maxima of no channels": (
        lambda: F.fractional_max_pool2d(gs.ones(1, 0, 8, 8), 2, 3),
        RuntimeError,
        "Expected input to have non-zero size",
    ),
    "samples of another dtype": (
        lambda: F.fractional_max_pool2d(
            gs.ones(1, 1, 8, 8), 2, 3, _random_samples=gs.zeros(1, 1, 2, dtype=gs.float64)
        ),
        RuntimeError,
        "Expect _random_samples to have the same dtype",
    ),
    "samples for too few images": (
        lambda: F.fractional_max_pool2d(
            gs.ones(2, 1, 8, 8), 2, 3, _random_samples=gs.zeros(1, 1, 2)
        ),
        RuntimeError,
        "Expect _random_samples",
    ),
    "too many windows": (
        lambda: F.fractional_max_pool2d(gs.ones(1, 1, 8, 4), 2, 4),
        RuntimeError,
        "too large relative to input width",
    ),
    "ratios of three dimensions in two": (
        lambda: nn.FractionalMaxPool2d(2, output_ratio=[0.5, 0.5, 0.6])(gs.ones(1, 1, 8, 8)),
        ValueError,
        "fractional_max_pool2d requires output_ratio",
    ),
    "no kernel": (
        lambda: F.fractional_max_pool2d(gs.ones(1, 1, 8, 8), (), 2),
        RuntimeError,
        "kernel_size must either",
    ),
    # ---- convolution
    "no groups": (lambda: nn.Conv1d(4, 4, 3, groups=0), ValueError, "groups must be a positive"),
    "no groups of a transposed one": (
        lambda: nn.ConvTranspose1d(4, 4, 3, groups=0),
        ValueError,
        "groups must be a positive",
    ),
    "output channels and groups": (
        lambda: nn.Conv1d(4, 6, 3, groups=4),
        ValueError,
        "^out_channels must be divisible by groups",
    ),
    "unknown padding": (
        lambda: nn.Conv1d(4, 4, 3, padding="some"),
        ValueError,
        "Invalid padding string",
    ),
    "a kernel larger than the input": (
        lambda: F.conv2d(gs.ones(1, 1, 4, 2), gs.ones(1, 1, 5, 5), padding=1),
        RuntimeError,
        r"padded input size per channel: \(6 x 4\)\. Kernel size: \(5 x 5\)\. Kernel size can't",
    ),
    "a kernel of nothing": (
        lambda: F.conv1d(gs.ones(1, 1, 4), gs.ones(1, 1, 0)),
        RuntimeError,
        "kernel size should be greater than zero",
    ),
    "no output channels": (
        lambda: F.conv1d(gs.ones(1, 1, 4), gs.ones(0, 1, 2)),
        RuntimeError,
        "at least 1 at dimension 0",
    ),
    "a transposed result of nothing": (
        lambda: F.conv_transpose1d(gs.ones(1, 1, 4), gs.ones(1, 1, 2), padding=5),
        RuntimeError,
        "Output size is too small",
    ),
    # ---- padding
    "a reflection of no channels": (
        lambda: F.pad(gs.ones(1, 0, 4), (1, 1), "reflect"),
        RuntimeError,
        "Expected 2D or 3D",
    ),
    "a repetition of no rows": (
        lambda: F.pad(gs.ones(0, 4), (1, 1), "replicate"),
        RuntimeError,
        "Expected 2D or 3D",
    ),
    # ---- losses
    "one weight for three classes": (
        lambda: F.nll_loss(ROWS, CLASSES, gs.ones(1)),
        RuntimeError,
        "either for all 3 classes or no classes",
    ),
    "too many weights": (
        lambda: F.cross_entropy(ROWS, CLASSES, gs.ones(4)),
        RuntimeError,
        "either for all 3 classes or no classes",
    ),
    "too few weights for probabilities": (
        lambda: F.cross_entropy(ROWS, ROWS, gs.ones(1)),
        RuntimeError,
        "either for all 3 classes or no classes",
    ),
    "several classes a row": (
        lambda: F.nll_loss(ROWS, _indices(2, 2)),
        RuntimeError,
        "multi-target not supported",
    ),
    "classes of other images": (
        lambda: F.nll_loss(gs.zeros(1, 2, 3, 3), _indices(1, 3, 4)),
        RuntimeError,
        "Expected target size",
    ),
    "smoothing of more than all": (
        lambda: F.cross_entropy(ROWS, CLASSES, label_smoothing=1.5),
        RuntimeError,
        "label_smoothing must be between",
    ),
    "an ignored class among probabilities": (
        lambda: F.cross_entropy(ROWS, ROWS, ignore_index=1),
        RuntimeError,
        "ignore_index is not supported",
    ),
    "weights of another shape": (
        lambda: F.mse_loss(ROWS, ROWS, weight=gs.ones(3)),
        ValueError,
        "must have the same size",
    ),
    "weights that would broadcast": (
        lambda: F.huber_loss(ROWS, ROWS, weight=gs.ones(3)),
        ValueError,
        "must have the same size",
    ),
    # ---- embeddings
    "a table of fewer than no rows": (
        lambda: nn.Embedding(-1, 2),
        RuntimeError,
        r"negative dimension -1: \[-1, 2\]",
    ),
    "a row that is not there": (
        lambda: F.embedding_bag(gs.tensor([[0, 3]]), gs.ones(3, 2)),
        RuntimeError,
        r"takes value 3 which is not in the valid range \[0, 3\)",
    ),
    "bags of a vector": (
        lambda: F.embedding_bag(gs.tensor([[0, 1]]), gs.ones(3)),
        ValueError,
        "weight has to be a 2D Tensor",
    ),
    "weights of another dtype": (
        lambda: F.embedding_bag(
            gs.tensor([[0]]),
            gs.ones(3, 2),
            mode="sum",
            per_sample_weights=gs.ones(1, 1, dtype=gs.float64),
        ),
        RuntimeError,
        "have the same type as",
    ),
    "bags that end before they begin": (
        lambda: F.embedding_bag(gs.tensor([0, 1]), gs.ones(3, 2), gs.tensor([0, 2, 1])),
        RuntimeError,
        "do not decrease",
    ),
    "a mode that is not there": (
        lambda: gs.embedding_bag(gs.ones(3, 2), gs.tensor([0]), gs.tensor([0]), mode=3),
        RuntimeError,
        "`mode` must be sum, mean, or max",
    ),
    "offsets in two dimensions": (
        lambda: gs.embedding_bag(gs.ones(3, 2), gs.tensor([0]), gs.tensor([[0]])),
        RuntimeError,
        "offsets has to be a 1D Tensor, but got Tensor of dimension 2",
    ),
    "weights of a mean": (
        lambda: gs.embedding_bag(
            gs.ones(3, 2), gs.tensor([0]), gs.tensor([0]), mode=1, per_sample_weights=gs.ones(1)
        ),
        RuntimeError,
        "only supported with mode='sum'",
    ),
    "padding outside of the table": (
        lambda: F.embedding_bag(gs.tensor([[0]]), gs.ones(3, 2), padding_idx=3),
        RuntimeError,
        "-3 through 2, but got 3",
    ),
    "rows of a number": (
        lambda: F.embedding(gs.tensor([0]), gs.tensor(1.0)),
        RuntimeError,
        "'weight' must be 2-D",
    ),
    # ---- recurrent cells and attention
    "a state that would broadcast": (
        lambda: nn.GRUCell(4, 3)(gs.ones(2, 4), gs.ones(1, 3)),
        RuntimeError,
        "batch size 2 doesn't match hidden batch size 1",
    ),
    "a memory that would broadcast": (
        lambda: nn.LSTMCell(4, 3)(gs.ones(2, 4), (gs.ones(2, 3), gs.ones(1, 3))),
        RuntimeError,
        "doesn't match hidden batch size",
    ),
    "an input of another width": (
        lambda: nn.RNNCell(4, 3)(gs.ones(2, 5)),
        RuntimeError,
        "inconsistent input_size: got 5 expected 4",
    ),
    "a mask of integers": (
        lambda: F.scaled_dot_product_attention(ROWS, ROWS, ROWS, _indices(2, 2)),
        RuntimeError,
        "Expected attn_mask dtype to be bool or float",
    ),
    "values of another dtype": (
        lambda: F.scaled_dot_product_attention(ROWS, ROWS, ROWS.double()),
        RuntimeError,
        "Expected query, key, and value to have the same dtype",
    ),
    "an input of no features": (lambda: nn.LSTM(0, 2), ValueError, "input_size must be greater"),
    "an input of another dtype": (
        lambda: nn.GRU(2, 3)(gs.ones(1, 1, 2, dtype=gs.float64)),
        ValueError,
        "GRU input dtype .* does not match weight dtype",
    ),
    "a bias of another dtype": (
        lambda: F.bilinear(ROWS, ROWS, gs.ones(1, 3, 3), gs.ones(1, dtype=gs.float64)),
        RuntimeError,
        "same dtype",
    ),
    "attention of integers": (
        lambda: F.scaled_dot_product_attention(*[_indices(2, 3)] * 3),
        RuntimeError,
        "expected scalar type Float but found Long",
    ),
    "two masks in three dimensions": (
        lambda: F.scaled_dot_product_attention(*[ROWS[None]] * 3, CAUSAL, is_causal=True),
        RuntimeError,
        "attn_mask should not be set when is_causal=True",
    ),
    "two masks of values of another width": (
        lambda: F.scaled_dot_product_attention(
            *[ROWS[None, None]] * 2, gs.ones(1, 1, 2, 4), CAUSAL, is_causal=True
        ),
        RuntimeError,
        "attn_mask should not be set when is_causal=True",
    ),
    "two masks beside dropout": (
        lambda: F.scaled_dot_product_attention(*[ROWS[None, None]] * 3, CAUSAL, 0.1, True),
        RuntimeError,
        "attn_mask should not be set when is_causal=True",
    ),
    "a mask for another number of heads": (
        lambda: nn.MultiheadAttention(4, 2)(*[gs.ones(3, 4)] * 3, attn_mask=gs.ones(3, 3, 3)),
        AssertionError,
        r"Expected `attn_mask` shape to be \(2, 3, 3\) but got \(3, 3, 3\)",
    ),
    "padding of another batch": (
        lambda: nn.MultiheadAttention(4, 2)(
            *[gs.ones(3, 2, 4)] * 3, key_padding_mask=gs.zeros(3, 3, dtype=gs.bool)
        ),
        AssertionError,
        r"key_padding_mask.shape\[0\] to be 2, but got 3",
    ),
    # ---- normalisation and images
    "statistics of nothing": (
        lambda: gs.batch_norm_update_stats(gs.ones(0, 2), None, None, 0.1),
        RuntimeError,
        r"at least one element, but got input_sizes = \[0, 2\]",
    ),
    "training without an eps": (
        lambda: F.batch_norm(ROWS, None, None, training=True, eps=0.0),
        ValueError,
        "eps must be positive during training, but got 0.0",
    ),
    "a negative eps": (
        lambda: nn.BatchNorm1d(3, eps=-1.0).eval()(ROWS),
        ValueError,
        "eps must be non-negative, but got -1.0",
    ),
    "one of two statistics": (
        lambda: F.batch_norm(ROWS, gs.zeros(3), None, training=True),
        ValueError,
        "both be None or neither",
    ),
    "a length that is no whole number": (
        lambda: F.interpolate(gs.ones(1, 1, 2, 2), size=(3.0, 3)),
        TypeError,
        "expected size to be one of int or Tuple",
    ),
    "three coordinates in an image": (
        lambda: F.grid_sample(gs.ones(1, 1, 2, 2), gs.ones(1, 2, 2, 3)),
        RuntimeError,
        "expected grid to have size 2 in last dimension",
    ),
    "integers beside a float": (
        lambda: nn.Unflatten(1, (2, 3.0)),  # type: ignore[arg-type]
        TypeError,
        "element of type float at pos 1",
    ),
    "the norm of a weight without a shape": (
        lambda: nn.utils.weight_norm(nn.LazyLinear(2)),
        ValueError,
        "weight_norm must not have uninitialized parameters",
    ),
    "the spectrum of a weight without a shape": (
        lambda: nn.utils.spectral_norm(nn.LazyLinear(2)),
        ValueError,
        "spectral_norm must not have uninitialized parameters",
    ),
}


@pytest.mark.filterwarnings("ignore:grid_sample")
@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
