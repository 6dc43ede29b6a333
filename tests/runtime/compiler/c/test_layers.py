"""Kernels of layers in C, against the kernels themselves; none of them is called from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec import kernels
from gradspec.compiler.c import build
from gradspec.compiler.c.source import written
from gradspec.compiler.program import Program, Step, Value, rooted

rng = np.random.default_rng(0)


def run_kernel(name: str, *args: Any) -> Any:
    """Run a kernel's step as C, with arrays among the arguments as inputs."""
    wanted = getattr(kernels, name)(*args)
    several = isinstance(wanted, tuple)
    results = [np.asarray(each) for each in (wanted if several else (wanted,))]
    arrays = [arg for arg in args if isinstance(arg, np.ndarray)]
    values = [_value(f"x{nr}", array) for nr, array in enumerate(arrays)]
    given = iter(values)
    filled = tuple(next(given) if isinstance(arg, np.ndarray) else arg for arg in args)
    outs = tuple(_value(f"y{nr}", array) for nr, array in enumerate(results))
    step = Step(f"kernels.{name}", filled, {}, outs, several)
    program = Program(tuple(values), (), (step,), outs)
    assert all(isinstance(stage, str) for stage in written(program).stages)
    return build(program)(*arrays), results


def _value(name: str, array: np.ndarray[Any, Any]) -> Value:
    return Value(name, array.shape, array.dtype, array.strides)


def assert_runs(name: str, *args: Any, rtol: float = 1e-12) -> None:
    for found, wanted in zip(*run_kernel(name, *args), strict=True):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


GEOMETRIES = [
    ((3, 3), 1, 0, 1),
    ((3, 2), 2, (1, 0), 1),
    ((2, 3), (1, 3), 2, (2, 1)),
    ((1, 1), 1, 0, 1),
]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_convolutions(geometry: Any, bias: bool) -> None:
    kernel, *numbers = geometry
    x = rng.standard_normal((3, 2, 8, 9))
    weight = rng.standard_normal((4, 2, *kernel))
    shift = rng.standard_normal(4) if bias else None
    given = (*numbers, False, 0, 1, 2, "")
    assert_runs("convolution", x, weight, shift, *given)
    grad = rng.standard_normal(kernels.convolution(x, weight, shift, *given).shape)
    rest = (*numbers, False, 1, "")
    assert_runs("convolution_weight", grad, x, weight.shape, *rest)
    assert_runs("convolution_input", grad, weight, x.shape, *rest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_convolutions_of_many_images(geometry: Any, dtype: Any) -> None:
    """The columns of an image lie on the stack, and threads share the images."""
    kernel, *numbers = geometry
    x = rng.standard_normal((300, 3, 16, 17)).astype(dtype)
    weight, shift = rng.standard_normal((16, 3, *kernel)).astype(dtype), np.ones(16, dtype)
    rtol = 1e-12 if dtype is np.float64 else 1e-3
    given = (*numbers, False, 0, 1, 2, "")
    assert_runs("convolution", x, weight, shift, *given, rtol=rtol)
    grad = rng.standard_normal(kernels.convolution(x, weight, shift, *given).shape).astype(dtype)
    rest = (*numbers, False, 1, "")
    assert_runs("convolution_weight", grad, x, weight.shape, *rest, rtol=rtol)
    assert_runs("convolution_input", grad, weight, x.shape, *rest, rtol=rtol)


def test_threads_change_no_bit_of_a_convolution() -> None:
    x, weight = gs.randn(64, 3, 16, 16), gs.randn(16, 3, 5, 5, requires_grad=True)

    @gs.compile(backend="c")
    def step(x: gs.Tensor) -> gs.Tensor:
        found = gs.nn.functional.conv2d(x, weight)
        return gs.autograd.grad(found.square().sum(), [weight])[0].detach()

    assert "gs_share(" in gs.compiler.explain(step, x).forward.source
    before = gs.get_num_threads()
    found = []
    for threads in (1, 2):
        gs.set_num_threads(threads)
        found.append(step(x).numpy())
    gs.set_num_threads(before)
    assert np.array_equal(*found)


def test_a_convolution_along_a_line() -> None:
    x, weight = rng.standard_normal((2, 3, 11)), rng.standard_normal((5, 3, 4))
    assert_runs("convolution", x, weight, None, 2, 1, 1, False, 0, 1, 1, "")


def test_a_convolution_of_the_same_size() -> None:
    x, weight = rng.standard_normal((2, 3, 6, 7)), rng.standard_normal((5, 3, 4, 3))
    assert_runs("convolution", x, weight, None, 1, 0, 1, False, 0, 1, 2, "same")


@pytest.mark.parametrize(
    "numbers", [(2, None, 0, 1, False), (3, 2, 1, 1, True), ((2, 3), 1, (1, 0), (2, 1), False)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_largest_of_windows(numbers: Any, dtype: Any) -> None:
    x = rng.integers(-4, 5, (2, 3, 8, 7)).astype(dtype)
    if dtype is not np.int64:
        x[0, 0, 2, 3] = np.nan
    (best, places), wanted = run_kernel("max_pool_with_indices", x, *numbers, 2)
    np.testing.assert_array_equal(best, wanted[0])
    np.testing.assert_array_equal(places, wanted[1])


def test_gradients_of_pooling() -> None:
    x = rng.standard_normal((2, 3, 6, 6))
    _, places = kernels.max_pool_with_indices(x, 3, 1, 0, 1, False, 2)
    grad = rng.standard_normal(places.shape)
    assert_runs("max_pool_backward", grad, x.shape, places, 2)


def test_a_place_outside_of_the_image_is_refused() -> None:
    grad, places = np.ones((1, 1, 2)), np.array([[[0, 3]]])
    outs = (Value("y", (1, 1, 4), grad.dtype, (32, 32, 8)),)
    values = (_value("x", grad), _value("p", places))
    step = Step("kernels.max_pool_backward", (values[0], (1, 1, 4), values[1], 1), {}, outs)
    program = build(Program(values, (), (step,), outs))
    assert program(grad, places)[0].tolist() == [[[1, 0, 0, 1]]]
    with pytest.raises(IndexError, match="An index is out of bounds"):
        program(grad, places + 1)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignored", [-100, 2])
def test_losses_of_classes(reduction: str, ignored: int) -> None:
    x, target = rng.standard_normal((7, 5)), rng.integers(0, 5, 7)
    target[3] = ignored
    assert_runs("nll_loss", x, target, None, ignored, reduction)
    shape = (7,) if reduction == "none" else ()
    grad = rng.standard_normal(shape)
    assert_runs("nll_loss_backward", np.asarray(grad), (7, 5), target, None, ignored, reduction)


@pytest.mark.parametrize("wrong", [5, -1])
def test_a_class_that_is_none_is_refused(wrong: int) -> None:
    x, target = rng.standard_normal((3, 5)), np.array([0, 1, 4])
    values = (_value("x", x), _value("t", target))
    outs = (Value("y", (), x.dtype, ()),)
    step = Step("kernels.nll_loss", (*values, None, -100, "mean"), {}, outs)
    program = build(Program(values, (), (step,), outs))
    np.testing.assert_allclose(program(x, target)[0], -(x[0, 0] + x[1, 1] + x[2, 4]) / 3)
    with pytest.raises(IndexError, match="Target is out of bounds"):
        program(x, np.array([0, 1, wrong]))


def special(dtype: Any) -> np.ndarray[Any, Any]:
    numbers = [0.0, -0.0, 1.0, -3.0, 7.5, -7.5, 60.0, -60.0, np.inf, -np.inf, np.nan]
    return np.array([*numbers, *rng.standard_normal(50) * 3], dtype)


CALLS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "normal_cdf": lambda x: (x,),
    "gelu_slope": lambda x: (x, x / 2, 0.3989422804014327),
    "hardtanh": lambda x: (x, -1.0, 2.0),
    "slice_backward": lambda x: (x, (80,), 0, 3, 3 + len(x), 1),
    "select_backward": lambda x: (x, (len(x), 3), 1, -1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CALLS)
def test_elementwise_kernels(name: str, dtype: Any) -> None:
    rtol = 1e-12 if dtype is np.float64 else 3e-6
    with np.errstate(all="ignore"):
        assert_runs(name, *CALLS[name](special(dtype)), rtol=rtol)


def test_normalisations() -> None:
    x = rng.standard_normal((4, 6, 5, 3))
    gain, shift = rng.random(6), rng.random(6)
    assert_runs("batch_norm", x, gain, shift, None, None, 1e-5)
    assert_runs("layer_norm", x, (5, 3), rng.random((5, 3)), rng.random((5, 3)), 1e-5)
    assert_runs("binary_cross_entropy_with_logits", x, np.abs(x), None, None, "mean")


@pytest.mark.parametrize(("size", "least", "most"), [(32, 0, 0.5), (80, 1, 1.5)])
def test_windows_live_where_they_are_read(size: int, least: float, most: float) -> None:
    """Those of small images one image at a time, on the stack; others do not live twice."""
    x, weight = gs.randn(8, 1, size, size), gs.randn(4, 1, 5, 5, requires_grad=True)

    def step(x: gs.Tensor) -> gs.Tensor:
        found = gs.nn.functional.conv2d(x, weight).tanh()
        return gs.autograd.grad(found.square().sum(), [weight])[0].detach()

    run = gs.compile(step, backend="c")
    expected = step(x).numpy()  # sums that may cancel: exact to the size of what is added up
    np.testing.assert_allclose(run(x).numpy(), expected, atol=2e-6 * abs(expected).max(), rtol=0)
    program = run.entry_for(x).executable.forward
    windows = 8 * 25 * (size - 4) ** 2 * 4
    arena = written(rooted(program)).unit.memory.arena_size
    assert least * windows < arena < most * windows
