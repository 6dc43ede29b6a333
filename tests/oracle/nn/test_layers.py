"""Layers of `nn.functional` beside PyTorch's: nodes, kinks, special points, dtypes and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:Default")]

INF, NAN = float("inf"), float("nan")


def _leaf(lib: Any, *shape: int) -> Any:
    """Numbers of both signs that all differ."""
    count = int(np.prod(shape))
    values = np.cos(1.0 + np.arange(count)).reshape(shape)
    return lib.tensor(values, requires_grad=True)


def _with_gradient(lib: Any, out: Any, *leaves: Any) -> Any:
    """The output, and the gradients of its elements, each with another weight."""
    weights = lib.tensor(np.sin(2.0 + np.arange(out.numel())).reshape(tuple(out.shape)))
    (out * weights).sum().backward()
    return out, *(leaf.grad for leaf in leaves)


def _of_one(name: str, *shape: int, **options: Any) -> Callable[[Any], Any]:
    """A function of one tensor, with its gradient."""

    def run(lib: Any) -> Any:
        x = _leaf(lib, *shape)
        return _with_gradient(lib, getattr(lib.nn.functional, name)(x, **options), x)

    return run


def _sampled(mode: str, padding_mode: str, corners: bool) -> Callable[[Any], Any]:
    """At corners, edges and the middle of an image, and far outside of it.

    At edges and outside the slopes of cubic weights cancel but for rounding: these stay away.
    """
    places = [(1, 1), (-1, -1), (0, 0), (2, -7), (3, 3), (-3, 5), (0.25, 0.5), (1e3, -1e3)]
    if mode == "bicubic":
        places = [(0.1 + x % 0.7, -0.6 + y % 0.9) for x, y in places]

    def run(lib: Any) -> Any:
        x = _leaf(lib, 1, 2, 3, 4)
        grid = lib.tensor(np.array(places, float).reshape(1, 2, 4, 2), requires_grad=True)
        sample = lib.nn.functional.grid_sample
        out = sample(x, grid, mode=mode, padding_mode=padding_mode, align_corners=corners)
        return _with_gradient(lib, out, x, grid)

    return run


def _sampled_at(*place: float) -> Callable[[Any], Any]:
    def run(lib: Any) -> Any:
        x = _leaf(lib, 1, 1, 2, 2)
        grid = lib.tensor([[[place]]], dtype=lib.float64, requires_grad=True)
        out = lib.nn.functional.grid_sample(x, grid, align_corners=False)
        return _with_gradient(lib, out, x, grid)

    return run


def _sampled_empty(lib: Any, batch: int, rows: int) -> Any:
    x, grid = _leaf(lib, batch, 1, 2, 2), _leaf(lib, batch, rows, 3, 2)
    out = lib.nn.functional.grid_sample(x, grid, align_corners=False)
    return _with_gradient(lib, out, x, grid)


def _grid(lib: Any, corners: bool, *size: int) -> Any:
    theta = _leaf(lib, size[0], len(size) - 2, len(size) - 1)
    return _with_gradient(lib, lib.nn.functional.affine_grid(theta, size, corners), theta)


def _cell(name: str, gates: int, with_bias: bool) -> Callable[[Any], Any]:
    def run(lib: Any) -> Any:
        x, state, memory = _leaf(lib, 2, 3), _leaf(lib, 2, 4), _leaf(lib, 2, 4)
        weights = [_leaf(lib, gates * 4, 3), _leaf(lib, gates * 4, 4)]
        weights += [_leaf(lib, gates * 4), _leaf(lib, gates * 4)] if with_bias else []
        hidden = (state, memory) if gates == 4 else state
        out = getattr(lib, name)(x, hidden, *weights)
        if gates == 4:
            return out[0], *_with_gradient(lib, out[0] + out[1], x, state, memory, *weights)
        return _with_gradient(lib, out, x, state, *weights)

    return run


def _norms(lib: Any, dtype: str) -> Any:
    x = lib.tensor([[1e-4, -2e-4], [0.0, 0.0]], dtype=getattr(lib, dtype), requires_grad=True)
    out = lib.nn.functional.rms_norm(x, (2,))
    out.sum().backward()
    return out, x.grad


def _unpooled(lib: Any, spatial: int, batch: int = 1) -> Any:
    x = _leaf(lib, batch, 2, *(4,) * spatial)
    functional = lib.nn.functional
    pool = getattr(functional, f"max_pool{spatial}d")
    values, places = pool(x, 2, return_indices=True)
    out = getattr(functional, f"max_unpool{spatial}d")(values, places, 2)
    return _with_gradient(lib, out, x)


def _instance_norm(lib: Any, use_input_stats: bool) -> Any:
    x, scale, shift = _leaf(lib, 2, 3, 4), _leaf(lib, 3), _leaf(lib, 3)
    mean = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64)
    var = lib.tensor([2.0, 1.0, 0.5], dtype=lib.float64)
    out = lib.nn.functional.instance_norm(
        x, mean, var, scale, shift, use_input_stats=use_input_stats, momentum=0.25
    )
    return *_with_gradient(lib, out, x, scale, shift), mean, var


CALLS: dict[str, Callable[[Any], Any]] = {
    "group_norm": lambda lib: lib.nn.functional.group_norm(
        _leaf(lib, 2, 4, 3), 2, _leaf(lib, 4), _leaf(lib, 4)
    ),
    "group_norm of nothing": lambda lib: lib.nn.functional.group_norm(lib.ones(0, 4, 3), 2),
    "group_norm of single precision": lambda lib: lib.nn.functional.group_norm(
        lib.tensor([[1.0, 2.0, 3.0, 7.0]]), 2
    ),
    "rms_norm": lambda lib: lib.nn.functional.rms_norm(_leaf(lib, 2, 3), (3,), _leaf(lib, 3)),
    "rms_norm at the top level": lambda lib: lib.rms_norm(_leaf(lib, 2, 3), (3,)),
    "rms_norm of halves": lambda lib: _norms(lib, "float16"),
    "rms_norm near zero": lambda lib: _norms(lib, "float32"),
    "instance_norm": lambda lib: _instance_norm(lib, True),
    "instance_norm of known statistics": lambda lib: _instance_norm(lib, False),
    "local_response_norm": _of_one("local_response_norm", 2, 4, 3, size=3, alpha=0.5),
    "local_response_norm of images": _of_one("local_response_norm", 1, 4, 2, 2, size=2, k=2.0),
    "pixel_shuffle": _of_one("pixel_shuffle", 1, 8, 2, 3, upscale_factor=2),
    "pixel_unshuffle": _of_one("pixel_unshuffle", 2, 4, 6, downscale_factor=2),
    "channel_shuffle": _of_one("channel_shuffle", 1, 6, 2, 2, groups=2),
    "unfold": _of_one("unfold", 2, 2, 4, 5, kernel_size=(2, 3), padding=1, stride=2),
    "fold": _of_one("fold", 1, 8, 9, output_size=4, kernel_size=2),
    "fold of one image": _of_one(
        "fold", 4, 4, output_size=(5, 4), kernel_size=2, dilation=2, stride=(2, 1), padding=(1, 0)
    ),
    "adaptive_max_pool1d": _of_one("adaptive_max_pool1d", 2, 1, 7, output_size=3),
    "adaptive_max_pool2d": _of_one("adaptive_max_pool2d", 1, 2, 5, 4, output_size=(3, None)),
    "adaptive_max_pool3d": _of_one("adaptive_max_pool3d", 1, 3, 4, 5, output_size=2),
    "adaptive_max_pool of nan and ties": lambda lib: lib.nn.functional.adaptive_max_pool1d(
        lib.tensor([[[NAN, 1.0, NAN, 2.0, 5.0, 5.0]]]), 4, return_indices=True
    ),
    "adaptive_max_pool of no windows": lambda lib: lib.nn.functional.adaptive_max_pool2d(
        lib.ones(1, 2, 2), (0, 2)
    ),
    **{f"max_unpool{d}d": lambda lib, d=d: _unpooled(lib, d) for d in (1, 2, 3)},
    "max_unpool to a size": lambda lib: lib.nn.functional.max_unpool1d(
        lib.tensor([[1.0, 2.0]]), lib.tensor([[1, 2]]), 2, output_size=(5,)
    ),
    "lp_pool1d": _of_one("lp_pool1d", 1, 2, 5, norm_type=2, kernel_size=2),
    "lp_pool2d": _of_one("lp_pool2d", 1, 4, 5, norm_type=4, kernel_size=(2, 3), stride=1),
    "lp_pool3d": _of_one("lp_pool3d", 1, 2, 2, 3, norm_type=2.0, kernel_size=2, ceil_mode=True),
    "lp_pool of maxima": _of_one("lp_pool2d", 1, 4, 4, norm_type=INF, kernel_size=2),
    "lp_pool of minima": _of_one("lp_pool1d", 1, 1, 4, norm_type=-INF, kernel_size=2),
    "lp_pool of zeros": lambda lib: _zeros_pooled(lib),
    **{
        f"{mode} in {len(shape) - 2}d {options}": _of_one(
            "interpolate", *shape, mode=mode, **options
        )
        for mode, shape in (
            ("nearest", (1, 2, 5)),
            ("nearest-exact", (1, 2, 5)),
            ("nearest", (1, 1, 3, 4)),
            ("nearest-exact", (1, 1, 2, 3, 2)),
            ("linear", (2, 1, 5)),
            ("bilinear", (1, 2, 3, 4)),
            ("bicubic", (1, 2, 3, 4)),
            ("trilinear", (1, 1, 2, 3, 2)),
            ("area", (1, 2, 5, 4)),
        )
        for options in ({"scale_factor": 2}, {"scale_factor": 0.7}, {"size": 3})
    },
    **{
        f"{mode} with corners": _of_one(
            "interpolate", 1, 1, 3, 4, mode=mode, size=(5, 1), align_corners=True
        )
        for mode in ("bilinear", "bicubic")
    },
    **{
        f"{mode} without aliasing to {size}": _of_one(
            "interpolate", 1, 1, 7, 6, mode=mode, size=size, antialias=True
        )
        for mode in ("bilinear", "bicubic")
        for size in ((3, 4), (9, 2))
    },
    "a factor that is kept": _of_one("interpolate", 1, 1, 5, mode="linear", scale_factor=1.3),
    "a factor that is computed": _of_one(
        "interpolate", 1, 1, 5, mode="linear", scale_factor=1.3, recompute_scale_factor=True
    ),
    "nearest of bytes": lambda lib: lib.nn.functional.interpolate(
        lib.tensor([[[1, 2]]], dtype=lib.uint8), scale_factor=2
    ),
    **{
        f"grid_sample {mode} {padding_mode} {corners}": _sampled(mode, padding_mode, corners)
        for mode in ("bilinear", "nearest", "bicubic")
        for padding_mode in ("zeros", "border", "reflection")
        for corners in (False, True)
    },
    "grid_sample of nothing": lambda lib: _sampled_empty(lib, 0, 2),
    "grid_sample at no place": lambda lib: _sampled_empty(lib, 1, 0),
    "interpolate of nothing": _of_one("interpolate", 0, 1, 2, 2, size=3, mode="bilinear"),
    "adaptive_max_pool of nothing": _of_one("adaptive_max_pool2d", 0, 1, 2, 2, output_size=1),
    "max_pool of nothing": _of_one("max_pool2d", 0, 1, 2, 2, kernel_size=1),
    "max_unpool of nothing": lambda lib: _unpooled(lib, 2, batch=0),
    "grid_sample at nan": _sampled_at(NAN, 0.0),
    "grid_sample at infinity": _sampled_at(INF, 0.0),
    "grid_sample far away": _sampled_at(1e30, 0.0),
    "affine_grid": lambda lib: _grid(lib, False, 2, 1, 3, 2),
    "affine_grid with corners": lambda lib: _grid(lib, True, 1, 1, 1, 3),
    "affine_grid of volumes": lambda lib: _grid(lib, True, 1, 1, 2, 1, 2),
    "dropout1d without a batch": lambda lib: lib.nn.functional.dropout1d(_leaf(lib, 2, 3), 1.0),
    "dropout2d of all": _of_one("dropout2d", 1, 2, 2, 2, p=1.0),
    "dropout3d in evaluation": _of_one("dropout3d", 1, 2, 2, 2, 2, training=False),
    **{
        f"{name} with bias {with_bias}": _cell(name, gates, with_bias)
        for name, gates in (
            ("rnn_tanh_cell", 1),
            ("rnn_relu_cell", 1),
            ("gru_cell", 3),
            ("lstm_cell", 4),
        )
        for with_bias in (False, True)
    },
}


def _zeros_pooled(lib: Any) -> Any:
    x = lib.zeros(1, 1, 4, dtype=lib.float64, requires_grad=True)
    return _with_gradient(lib, lib.nn.functional.lp_pool1d(x, 2, 2), x)


@pytest.mark.parametrize("text", CALLS)
def test_same(text: str) -> None:
    import torch

    assert_same(CALLS[text], torch)


def test_max_unpool_twice_to_one_place() -> None:
    import torch

    def unpooled(lib: Any) -> Any:
        values, places = lib.tensor([[[1.0, 2.0]]]), lib.tensor([[[1, 1]]])
        return lib.nn.functional.max_unpool1d(values, places, 2)

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several write in any order
    try:
        assert_same(unpooled, torch)
    finally:
        torch.set_num_threads(threads)


def _ones(name: str, *shapes: tuple[int, ...], **options: Any) -> Callable[[Any], Any]:
    return lambda lib: getattr(lib.nn.functional, name)(*(lib.ones(s) for s in shapes), **options)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "groups": _ones("group_norm", (2, 3), num_groups=2),
    "no groups": lambda lib: lib.group_norm(lib.ones(2, 3), 0),
    "a group of one": _ones("group_norm", (1, 3), num_groups=3),
    "group_norm of a vector": _ones("group_norm", (3,), num_groups=3),
    "rms_norm of another shape": _ones("rms_norm", (2, 3), normalized_shape=(2,)),
    "rms_norm of integers": lambda lib: lib.nn.functional.rms_norm(lib.tensor([1, 2]), (2,)),
    "one place": _ones("instance_norm", (2, 3, 1)),
    "no statistics": _ones("instance_norm", (2, 3, 2), use_input_stats=False),
    "local_response_norm of rows": _ones("local_response_norm", (2, 3), size=2),
    "pixels": _ones("pixel_shuffle", (1, 3, 2, 2), upscale_factor=2),
    "no pixels": _ones("pixel_shuffle", (1, 4, 2, 2), upscale_factor=0),
    "half pixels": _ones("pixel_unshuffle", (1, 3, 3, 2), downscale_factor=2),
    "channels": _ones("channel_shuffle", (1, 3, 2, 2), groups=2),
    "channels of rows": _ones("channel_shuffle", (2, 2), groups=2),
    "patches larger than the image": _ones("unfold", (1, 1, 2, 2), kernel_size=3),
    "patches of nothing": _ones("unfold", (1, 1, 0, 2), kernel_size=1),
    "no stride": _ones("unfold", (1, 1, 2, 2), kernel_size=1, stride=0),
    "columns": _ones("fold", (1, 4, 3), output_size=3, kernel_size=2),
    "rows": _ones("fold", (1, 3, 4), output_size=3, kernel_size=2),
    "three sizes of two": _ones("adaptive_max_pool2d", (1, 2, 2), output_size=(1, 1, 1)),
    "windows of nothing": _ones("adaptive_max_pool2d", (1, 0, 2), output_size=1),
    "both size and factor": _ones("interpolate", (1, 1, 2), size=3, scale_factor=2),
    "neither size nor factor": _ones("interpolate", (1, 1, 2)),
    "corners of nearest": _ones("interpolate", (1, 1, 2), size=3, align_corners=True),
    "bilinear of lines": _ones("interpolate", (1, 1, 2), size=3, mode="bilinear"),
    "a factor that is not there": _ones(
        "interpolate", (1, 1, 2), size=3, recompute_scale_factor=True
    ),
    "sizes of other dimensions": _ones("interpolate", (1, 1, 2), size=(3, 3)),
    "no size": _ones("interpolate", (1, 1, 2), size=0),
    "nearest without aliasing": _ones("interpolate", (1, 1, 2, 2), size=3, antialias=True),
    "a grid of three": _ones("grid_sample", (1, 1, 2, 2), (1, 2, 2, 3), align_corners=False),
    "a mode": _ones("grid_sample", (1, 1, 2, 2), (1, 2, 2, 2), mode="cubic"),
    "a padding": _ones("grid_sample", (1, 1, 2, 2), (1, 2, 2, 2), padding_mode="edge"),
    "an empty image": _ones("grid_sample", (1, 1, 0, 2), (1, 2, 2, 2), align_corners=False),
    "bicubic volumes": _ones(
        "grid_sample", (1, 1, 2, 2, 2), (1, 1, 1, 1, 3), mode="bicubic", align_corners=False
    ),
    "a square matrix": _ones("affine_grid", (1, 2, 2), size=(1, 1, 2, 2), align_corners=False),
    "an empty grid": _ones("affine_grid", (1, 2, 3), size=(1, 1, 0, 2), align_corners=False),
    "a grid of integers": lambda lib: lib.nn.functional.affine_grid(
        lib.tensor([[[1, 0, 0], [0, 1, 0]]]), (1, 1, 2, 2), False
    ),
    "a grid of a line": _ones("affine_grid", (1, 2, 3), size=(1, 1, 2), align_corners=False),
    "dropout1d of images": _ones("dropout1d", (1, 2, 2, 2)),
    "a probability": _ones("dropout2d", (1, 2, 2, 2), p=1.5),
    "features of a vector": _ones("feature_alpha_dropout", (2,), training=True),
    "a place outside": lambda lib: lib.nn.functional.max_unpool1d(
        lib.ones(1, 1, 2), lib.tensor([[[0, 7]]]), 2
    ),
    "a size that no pooling has": lambda lib: lib.nn.functional.max_unpool1d(
        lib.ones(1, 1, 2), lib.tensor([[[0, 1]]]), 2, output_size=(9,)
    ),
    "places of another shape": lambda lib: lib.nn.functional.max_unpool1d(
        lib.ones(1, 1, 2), lib.tensor([[[0]]]), 2
    ),
    "linear of integers": lambda lib: lib.nn.functional.interpolate(
        lib.tensor([[[1, 2]]]), size=3, mode="linear"
    ),
    "rms_norm of other weights": lambda lib: lib.nn.functional.rms_norm(
        lib.ones(2, 3), (3,), lib.ones(2)
    ),
    "group_norm of other weights": lambda lib: lib.nn.functional.group_norm(
        lib.ones(2, 4), 2, lib.ones(3)
    ),
}


@pytest.mark.filterwarnings("ignore:dropout2d")
@pytest.mark.parametrize("text", REFUSED)
def test_refusals(text: str) -> None:
    import torch

    with pytest.raises((RuntimeError, ValueError, NotImplementedError)) as expected:
        REFUSED[text](torch)
    with pytest.raises(type(expected.value)):
        REFUSED[text](gs)


@pytest.mark.parametrize("name", ["alpha_dropout", "feature_alpha_dropout", "dropout1d"])
def test_what_is_dropped_is_one_number(name: str) -> None:
    """Every element is one of two affine maps of it, of which PyTorch's are the same."""
    import torch

    seen = []
    for lib in (gs, torch):
        lib.manual_seed(0)
        x = lib.ones(40, 40, 2, dtype=lib.float64)
        seen.append(np.unique(getattr(lib.nn.functional, name)(x, 0.25, True).numpy().round(12)))
    np.testing.assert_allclose(*seen)
    assert len(seen[0]) == 2
