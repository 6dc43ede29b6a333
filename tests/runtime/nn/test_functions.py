"""Functions beside the layers: weighted losses, gradients of convolutions, images of bytes."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import nn

F = nn.functional


def test_weighted_errors() -> None:
    input, target = gs.tensor([1.0, 2.0, 5.0], requires_grad=True), gs.tensor([0.0, 0.0, 2.0])
    weight = gs.tensor([1.0, 2.0, 0.0])
    assert F.mse_loss(input, target, reduction="none", weight=weight).tolist() == [1, 8, 0]
    assert F.l1_loss(input, target, reduction="sum", weight=weight).item() == 5
    loss = F.mse_loss(input, target, weight=weight)
    assert loss.item() == 3  # the weights are 3 together
    loss.backward()
    np.testing.assert_allclose(input.grad, [2 / 3, 8 / 3, 0], rtol=1e-6)


@pytest.mark.parametrize("dtype", [gs.int8, gs.bool, gs.float16, gs.float64])
def test_cosines_of_vectors_of_different_dtypes(dtype: Any) -> None:
    ones, vector = gs.ones(1, 2, dtype=dtype), gs.tensor([3.0, 4.0], requires_grad=True)
    found = F.cosine_similarity(ones, vector, dim=-1)
    assert found.dtype == gs.promote_types(dtype, gs.float32)
    assert found.item() == pytest.approx(7 / (5 * 2**0.5), rel=1e-6)
    found.sum().backward()
    assert vector.grad is not None
    assert vector.grad.tolist() == pytest.approx([0.0226274, -0.0169706], rel=1e-4)


def test_cross_entropy_of_no_classes() -> None:
    nothing = gs.zeros(2, 0)
    assert F.cross_entropy(nothing, nothing, reduction="none").tolist() == [0, 0]


def test_gradients_of_a_convolution() -> None:
    x = gs.tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]])
    weight, grad = gs.tensor([[[1.0, 10.0]]]), gs.tensor([[[1.0, 2.0]]])
    # With a stride of two the windows are (1, 2) and (3, 4).
    of_input = nn.grad.conv1d_input((1, 1, 5), weight, grad, stride=2)
    assert of_input.tolist() == [[[1, 10, 2, 20, 0]]]
    of_weight = nn.grad.conv1d_weight(x, (1, 1, 2), grad, stride=2)
    assert of_weight.tolist() == [[[1 + 2 * 3, 2 + 2 * 4]]]
    with pytest.raises(RuntimeError, match=r"expected grad_output of shape \[1, 1, 2\]"):
        nn.grad.conv1d_input((1, 1, 5), weight, gs.ones(1, 1, 4), stride=2)
    with pytest.raises(RuntimeError, match="to have 2 channels"):
        nn.grad.conv1d_weight(x, (1, 2, 2), grad, stride=2)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_gradients_of_convolutions_of_groups(spatial: int) -> None:
    gs.manual_seed(0)
    x = gs.randn(2, 4, *(5,) * spatial, dtype=gs.float64, requires_grad=True)
    weight = gs.randn(6, 2, *(2,) * spatial, dtype=gs.float64, requires_grad=True)
    convolve = (F.conv1d, F.conv2d, F.conv3d)[spatial - 1]
    out = convolve(x, weight, None, 2, 1, 1, 2)
    grad = gs.randn(*out.shape, dtype=gs.float64)
    expected = gs.autograd.grad(out, (x, weight), grad)
    of_input = getattr(F.grad, f"conv{spatial}d_input")(x.shape, weight, grad, 2, 1, 1, 2)
    of_weight = getattr(F.grad, f"conv{spatial}d_weight")(x, weight.shape, grad, 2, 1, 1, 2)
    np.testing.assert_allclose(of_input.detach(), expected[0], rtol=1e-12)
    np.testing.assert_allclose(of_weight.detach(), expected[1], rtol=1e-12)


def test_images_of_bytes_are_rounded() -> None:
    image = gs.tensor([[[[0, 100], [101, 255]]]], dtype=gs.uint8)
    out = F.interpolate(image, size=(2, 3), mode="bilinear", align_corners=True)
    assert out.dtype == gs.uint8
    assert out.tolist() == [[[[0, 50, 100], [101, 178, 255]]]]
    # The last dimension is rounded first, 0.5 to 1, and that once more on the way down.
    steps = gs.tensor([[[[0, 1], [0, 1]]]], dtype=gs.uint8)
    assert F.interpolate(steps, size=(1, 1), mode="bilinear").item() == 1
    # Cubic interpolation overshoots: bytes end at 0 and 255.
    edge = gs.tensor([[[[0, 0, 255, 255]] * 2]], dtype=gs.uint8)
    wide = F.interpolate(edge, size=(2, 8), mode="bicubic")
    assert (wide.min().item(), wide.max().item()) == (0, 255)
    with pytest.raises(NotImplementedError, match="Byte"):
        F.interpolate(image[0], size=3, mode="linear")


def test_interpolation_of_a_long_line_stays_inside() -> None:
    line = gs.zeros(1, 1, 2**24 + 4)
    assert F.interpolate(line, size=2, mode="linear", align_corners=True).tolist() == [[[0, 0]]]


def test_no_windows_and_no_bags() -> None:
    assert F.fractional_max_pool2d(gs.ones(1, 2, 8, 8), 2, (0, 3)).shape == (1, 2, 0, 3)
    assert F.fractional_max_pool2d(gs.ones(0, 8, 8), 2, (3, 3)).shape == (0, 3, 3)
    bags = F.embedding_bag(
        gs.tensor([0, 1]), gs.ones(3, 2), gs.tensor([0]), include_last_offset=True
    )
    assert bags.shape == (0, 2)


TABLE = [[1.0, 9.0], [5.0, 2.0], [7.0, 3.0]]
BAGS: list[tuple[int, dict[str, Any], list[Any]]] = [
    (0, {}, [[[6.0, 11.0], [0.0, 0.0], [7.0, 3.0]], [], [0, 0, 0], [0, 0, 0]]),
    (1, {}, [[[3.0, 5.5], [0.0, 0.0], [7.0, 3.0]], [0, 0, 2], [2, 0, 1], [2, 0, 1]]),
    (2, {}, [[[5.0, 9.0], [0, 0], [7, 3]], [0, 0, 2], [2, 0, 1], [[1, 0], [0, 0], [2, 2]]]),
    (1, {"padding_idx": 0}, [[[5.0, 2.0], [0, 0], [7, 3]], [0, 0, 2], [1, 0, 1], [1, 0, 1]]),
    (1, {"include_last_offset": True}, [[[3.0, 5.5], [7, 3]], [0, 0, 1], [2, 1], [2, 1]]),
]


@pytest.mark.parametrize(("mode", "options", "expected"), BAGS)
def test_bags_with_what_their_gradient_needs(
    mode: int, options: dict[str, Any], expected: list[Any]
) -> None:
    indices, offsets = gs.tensor([0, 1, 2]), gs.tensor([0, 2, 2])
    found = gs.embedding_bag(gs.tensor(TABLE), indices, offsets, mode=mode, **options)
    assert [part.tolist() for part in found] == expected
    assert [part.dtype for part in found[1:]] == [gs.int64] * 3


def test_samples_of_a_larger_batch_place_the_first_windows() -> None:
    image = gs.arange(5.0).reshape(1, 1, 1, 5).expand(1, 1, 5, 5)
    samples = gs.tensor([[[0.0, 0.0]], [[0.9, 0.9]]])
    out = F.fractional_max_pool2d(image, (1, 1), (5, 2), _random_samples=samples)
    assert out[0, 0, 0].tolist() == [0, 4]


def test_images_of_no_channels_are_sampled() -> None:
    grid = gs.zeros(1, 2, 3, 2)
    assert F.grid_sample(gs.ones(1, 0, 4, 4), grid, align_corners=False).shape == (1, 0, 2, 3)


def test_statistics_that_are_not_tracked_any_more() -> None:
    layer = nn.BatchNorm1d(1, affine=False, eps=1e-20)
    layer.track_running_stats = False
    batch = gs.tensor([[1.0], [3.0]])
    assert layer(batch).tolist() == [[-1], [1]]
    assert layer.running_mean.tolist() == [0]  # neither updated ...
    layer.eval()
    assert layer(batch).tolist() == [[1], [3]]  # ... nor lost for evaluation


def test_running_statistics_alone() -> None:
    mean, var = gs.zeros(1), gs.ones(1)
    found = gs.batch_norm_update_stats(gs.tensor([[1.0], [3.0]]), mean, var, 0.5)
    assert [part.tolist() for part in found] == [[2.0], [1.0]]
    assert (mean.item(), var.item()) == (1.0, 0.5 * 1 + 0.5 * 2)


@pytest.mark.parametrize("kind", [nn.UninitializedParameter, nn.parameter.UninitializedBuffer])
def test_shapes_are_given_once(kind: Any) -> None:
    tensor = kind()
    tensor.materialize((2, 3), dtype=gs.float64)
    assert (tensor.shape, tensor.dtype) == ((2, 3), gs.float64)
    assert isinstance(tensor, nn.Parameter) is (kind is nn.UninitializedParameter)
    with pytest.raises(AttributeError, match="materialize"):
        tensor.materialize((2, 3))


def test_a_transformer_of_no_sequences() -> None:
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    assert layer(gs.ones(3, 0, 4)).shape == (3, 0, 4)
    attention = nn.MultiheadAttention(4, 2)
    x = gs.ones(3, 0, 4)
    out, shares = attention(x, x, x)
    assert shares is not None
    assert (out.shape, shares.shape) == ((3, 0, 4), (0, 3, 3))
    assert attention(x, x, x, need_weights=False)[0].shape == (3, 0, 4)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_of_lazy_modules_are_lazy(copied: Callable[[Any], Any]) -> None:
    layer = copied(nn.LazyBatchNorm1d())
    assert layer.has_uninitialized_params()
    assert isinstance(layer.running_mean, nn.UninitializedBuffer)
    assert layer(gs.ones(4, 3)).shape == (4, 3)
    assert layer.running_mean.shape == (3,)
    buffer = copied(nn.Buffer(gs.ones(1), persistent=False))
    holder = nn.Module()
    holder.buffer = buffer
    assert list(dict(holder.named_buffers())) == ["buffer"]
    assert not holder.state_dict()


@pytest.mark.parametrize("transpose", [False, True])
def test_a_normalisation_merged_into_a_convolution(transpose: bool) -> None:
    gs.manual_seed(0)
    conv = nn.ConvTranspose2d(2, 3, 2) if transpose else nn.Conv2d(2, 3, 2, bias=False)
    bn = nn.BatchNorm2d(3)
    bn.running_mean.normal_()
    bn.running_var.uniform_(0.5, 2)
    nn.init.normal_(bn.weight)
    nn.init.normal_(bn.bias)
    with pytest.raises(AssertionError, match="eval"):
        nn.utils.fuse_conv_bn_eval(conv, bn, transpose)
    fused = nn.utils.fuse_conv_bn_eval(conv.eval(), bn.eval(), transpose)
    x = gs.randn(2, 2, 4, 4)
    np.testing.assert_allclose(fused(x).detach(), bn(conv(x)).detach(), atol=1e-5)
    assert fused.weight.requires_grad


def test_a_normalisation_merged_into_a_linear_layer() -> None:
    linear, bn = nn.Linear(1, 2), nn.BatchNorm1d(2, eps=0.0)
    nn.init.ones_(linear.weight)
    nn.init.zeros_(linear.bias)
    bn.running_mean.copy_(gs.tensor([1.0, 2.0]))
    bn.running_var.fill_(4.0)
    fused = nn.utils.fuse_linear_bn_eval(linear.eval(), bn.eval())
    assert fused.weight.tolist() == [[0.5], [0.5]]
    assert fused.bias.tolist() == [-0.5, -1]
    with pytest.raises(AssertionError, match="out_features"):
        nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(3).eval())


def test_a_prefix_of_a_state_is_removed() -> None:
    wrapped = nn.Sequential(OrderedDict(module=nn.Sequential(nn.Linear(1, 1))))
    state: Any = wrapped.state_dict()
    state["module"] = 1
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["module", "0.weight", "0.bias"]  # what stays comes first, as in PyTorch
    assert list(state._metadata) == ["", "0"]


def test_switches_of_a_block() -> None:
    cudnn = gs.backends.cudnn
    with cudnn.flags(enabled=False, benchmark=True):
        assert (cudnn.enabled, cudnn.benchmark) == (False, True)
    assert (cudnn.enabled, cudnn.benchmark) == (True, False)
