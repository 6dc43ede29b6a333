"""`gradspec.fft` against PyTorch: the nodes that calls make, dtypes, and what is refused.

Values and derivatives are compared on PyTorch's own samples, in `test_opinfo`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs

pytestmark = pytest.mark.oracle

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "fft of complex": lambda fft, x: fft.fft(x + 0j),
    "fft of real": lambda fft, x: fft.fft(x),
    "ifft": lambda fft, x: fft.ifft(x + 0j, norm="ortho"),
    "rfft": lambda fft, x: fft.rfft(x, 3),
    "irfft": lambda fft, x: fft.irfft(x + 0j, 5),
    "rfft2": lambda fft, x: fft.rfft2(x, norm="forward"),
    "fftn": lambda fft, x: fft.fftn(x + 0j, (3, -1)),
    "hfft": lambda fft, x: fft.hfft(x + 0j),
    "ihfft": lambda fft, x: fft.ihfft(x),
    "fftshift": lambda fft, x: fft.fftshift(x, 1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", CALLS)
def test_node_and_dtype(call: str, dtype: Any) -> None:
    import torch

    numbers = np.array([[1.0, -2.0, 0.5, 3.0], [0.25, 4.0, -1.0, 2.0]], dtype)
    mine = CALLS[call](gs.fft, gs.tensor(numbers, dtype=numbers.dtype, requires_grad=True))
    theirs = CALLS[call](torch.fft, torch.tensor(numbers, requires_grad=True))
    assert mine.grad_fn.name() == theirs.grad_fn.name()
    expected = theirs.detach().resolve_conj().numpy()
    assert mine.dtype == expected.dtype
    np.testing.assert_allclose(mine.detach().numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies(name: str, n: int) -> None:
    import torch

    mine, theirs = getattr(gs.fft, name)(n, 0.5), getattr(torch.fft, name)(n, 0.5)
    assert mine.dtype == gs.float32
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-6)


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "rfft of complex": lambda fft, x: fft.rfft(x + 0j),
    "an unknown norm": lambda fft, x: fft.fft(x, norm="none"),
    "no number": lambda fft, x: fft.fft(x, 0),
    "a dimension twice": lambda fft, x: fft.fftn(x, dim=(0, 0)),
    "a dimension too far": lambda fft, x: fft.fft(x, dim=2),
    "more lengths than dimensions": lambda fft, x: fft.fftn(x, (2, 2, 2)),
    "lengths for other dimensions": lambda fft, x: fft.fftn(x, (2, 2), (0,)),
}


@pytest.mark.parametrize("call", REFUSED)
def test_refusals(call: str) -> None:
    import torch

    x = np.ones((2, 4))
    with pytest.raises((RuntimeError, IndexError)) as mine:
        REFUSED[call](gs.fft, gs.tensor(x))
    with pytest.raises((RuntimeError, IndexError)) as theirs:
        REFUSED[call](torch.fft, torch.tensor(x))
    assert mine.type is theirs.type


def test_over_no_dimension_infinite_numbers_have_no_imaginary_part() -> None:
    found = gs.fft.fftn(gs.tensor([np.inf, 1.0]), dim=()).numpy()
    np.testing.assert_array_equal(found.real, [np.inf, 1.0])
    np.testing.assert_array_equal(found.imag, [0.0, 0.0])
