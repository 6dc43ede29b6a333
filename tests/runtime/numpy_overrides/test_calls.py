"""Every function of NumPy on tensors: its values, and gradients beside slopes by differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from tests.runtime.numpy_overrides.calls import FLAT, SMOOTH

STEP = 1e-6


def leaves(answer: Any) -> Iterator[Any]:
    """The values of an answer, one after the other."""
    if isinstance(answer, list | tuple):
        for part in answer:
            yield from leaves(part)
    else:
        yield answer


@pytest.mark.parametrize("name", SMOOTH)
def test_the_values_are_numpys_and_a_gradient_flows(name: str) -> None:
    call, values = SMOOTH[name]
    x = gs.tensor(values, requires_grad=True)
    y = call(x)
    assert isinstance(y, gs.Tensor)
    wanted = call(values)
    assert tuple(y.shape) == np.shape(wanted)
    np.testing.assert_allclose(y.detach().numpy(), wanted, rtol=1e-11, atol=1e-13)
    weights = np.cos(np.arange(np.size(wanted), dtype=float)).reshape(np.shape(wanted))
    y.backward(gs.tensor(weights))
    slopes = np.empty(values.shape)
    for place in np.ndindex(values.shape):
        step = np.zeros_like(values)
        step[place] = STEP
        change = call(values + step) - call(values - step)
        slopes[place] = (change * weights).sum() / (2 * STEP)
    np.testing.assert_allclose(x.grad.numpy(), slopes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", FLAT)
def test_what_has_no_slope_is_numpys_too(name: str) -> None:
    call, values = FLAT[name]
    found, wanted = list(leaves(call(gs.tensor(values)))), list(leaves(call(values)))
    assert len(found) == len(wanted)
    for ours, numpys in zip(found, wanted, strict=True):
        if isinstance(numpys, np.ndarray):
            assert isinstance(ours, gs.Tensor)
            np.testing.assert_array_equal(ours.numpy(), numpys)
        elif isinstance(ours, gs.Tensor):
            assert ours.item() == numpys
        elif isinstance(numpys, str):
            assert ours == numpys
        else:
            assert type(ours) is type(numpys)
            assert ours == numpys


@pytest.mark.parametrize("name", ["histogram", "histogram2d", "histogramdd", "histogram_bin_edges"])
def test_what_would_cut_a_gradient_off_is_refused(name: str) -> None:
    call, values = FLAT[name]
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        call(gs.tensor(values, requires_grad=True))


def test_arrays_of_tensors_are_saved_and_read(tmp_path: Any) -> None:
    x = gs.tensor([[0.5, 1.5]])
    np.save(tmp_path / "x.npy", x)
    np.savez(tmp_path / "x.npz", x=x)
    np.savez_compressed(tmp_path / "y.npz", x=x)
    np.savetxt(tmp_path / "x.txt", x)
    assert np.load(tmp_path / "x.npy").tolist() == [[0.5, 1.5]]
    assert np.load(tmp_path / "x.npz")["x"].tolist() == [[0.5, 1.5]]
    assert np.load(tmp_path / "y.npz")["x"].tolist() == [[0.5, 1.5]]
    assert np.loadtxt(tmp_path / "x.txt").tolist() == [0.5, 1.5]
