"""Numbers given to functions that are no ops of the table: the kinds that PyTorch takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.oracle.behaviours import assert_same

pytestmark = pytest.mark.oracle

GIVEN: dict[str, Callable[[Any], Any]] = {
    "bool": lambda g: True,
    "complex": lambda g: 1j,
    "float": lambda g: 2.5,
    "None": lambda g: None,
    "str": lambda g: "a",
    "list": lambda g: [2],
    "tensor": lambda g: g.tensor(2),
    "float tensor": lambda g: g.tensor(2.0),
    "tensor with a gradient": lambda g: g.tensor(2.0, requires_grad=True),
    "tensor of two": lambda g: g.tensor([2, 3]),
    "NumPy's integer": lambda g: np.int64(2),
    "NumPy's float": lambda g: np.float64(2.0),
}


def _signal(g: Any) -> Any:
    return g.tensor([1.0, 2.0, 4.0, 7.0])


def _transform(g: Any) -> Any:
    return g.stft(_signal(g), 2, 1, window=g.ones(2), return_complex=True)


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "allclose rtol": lambda g, v: g.allclose(_signal(g), _signal(g), rtol=v),
    "allclose equal_nan": lambda g, v: g.allclose(_signal(g), _signal(g), equal_nan=v),
    "arange": lambda g, v: g.arange(v),
    "arange step": lambda g, v: g.arange(0, 4, v),
    "range": lambda g, v: g.range(0, v),
    "combinations": lambda g, v: g.combinations(_signal(g), with_replacement=v),
    "gradient edge_order": lambda g, v: g.gradient(_signal(g), edge_order=v),
    "unsafe_chunk": lambda g, v: g.unsafe_chunk(_signal(g), v),
    "mvlgamma": lambda g, v: g.mvlgamma(_signal(g) + 5, v),
    "stft normalized": lambda g, v: g.stft(
        _signal(g), 2, window=g.ones(2), normalized=v, return_complex=True
    ),
    "istft n_fft": lambda g, v: g.istft(_transform(g), v, 1, window=g.ones(2)),
    "istft normalized": lambda g, v: g.istft(_transform(g), 2, 1, window=g.ones(2), normalized=v),
    "tril_indices": lambda g, v: g.tril_indices(v, 2),
    "scalar_tensor": lambda g, v: g.scalar_tensor(v),
    "full": lambda g, v: g.full((2,), v, dtype=g.float32),
    "full_like": lambda g, v: g.full_like(_signal(g), v),
    "eye": lambda g, v: g.eye(v),
    "hann_window": lambda g, v: g.hann_window(v),
    "hann_window periodic": lambda g, v: g.hann_window(3, v),
    "fftfreq": lambda g, v: g.fft.fftfreq(v),
    "fftfreq d": lambda g, v: g.fft.fftfreq(3, v),
    "fftshift dim": lambda g, v: g.fft.fftshift(g.ones(1, 2, 3), v),
    "movedim": lambda g, v: g.movedim(g.ones(1, 2, 3), v, 0),
    "matrix_power": lambda g, v: g.linalg.matrix_power(g.eye(2), v),
    "hsplit": lambda g, v: g.hsplit(_signal(g), v),
    "randint": lambda g, v: g.randint(v, (3,)) * 0,
    "randperm": lambda g, v: g.randperm(v) * 0,
    "fill_diagonal_": lambda g, v: g.ones(2, 2).fill_diagonal_(v),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_same_kinds_of_numbers(torch: Any, call: Any, given: Any) -> None:
    assert_same(lambda g: call(g, given(g)), torch)


@pytest.mark.parametrize("given", [True, 1j, 2.5, None, "a"])
def test_probabilities(torch: Any, given: Any) -> None:
    assert_same(lambda g: _signal(g).bernoulli_(given) * 0, torch)


def test_bases_and_spacings(torch: Any) -> None:
    for base in (1j, "a", [2]):
        assert_same(lambda g, base=base: g.logspace(0, 1, 3, base=base), torch)
    for end in ("a", [2]):
        assert_same(lambda g, end=end: g.linspace(0, end, 3), torch)
    for spacing in (2, 0.5, np.int64(2), "a"):
        assert_same(lambda g, spacing=spacing: g.gradient(_signal(g), spacing=spacing), torch)
    assert_same(lambda g: g.gradient(_signal(g), spacing=g.tensor(2.0)), torch)


def test_mvlgamma_refuses_at_once_what_would_run_for_ages() -> None:
    start = time.perf_counter()
    with pytest.raises(RuntimeError, match="mvlgamma: p is"):
        gs.mvlgamma(gs.tensor([3.0]), 2**63)
    assert time.perf_counter() - start < 1
