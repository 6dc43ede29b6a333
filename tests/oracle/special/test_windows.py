"""`stft` of windows at the edges of signals, windows, and numbers of samples, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradspec as gs

from ..behaviours import assert_same, attempt


@pytest.mark.oracle
@pytest.mark.parametrize("aligned", [None, False, True])
@pytest.mark.parametrize(("width", "hop"), [(4, 2), (4, 1), (3, 2), (3, 3)])
def test_windows_that_begin_with_the_signal(
    torch: Any, aligned: bool | None, width: int, hop: int
) -> None:
    def behaviour(library: Any) -> Any:
        signal = library.arange(40, dtype=library.float64)
        window = library.hann_window(width, dtype=library.float64)
        return library.stft(
            signal,
            8,
            hop,
            width,
            window=window,
            center=False,
            align_to_window=aligned,
            return_complex=True,
        )

    assert_same(behaviour, torch)


def test_the_last_window_ends_with_the_signal() -> None:
    # Five zeros are added, two of them before the signal; PyTorch reads beyond the end.
    signal = gs.arange(10, dtype=gs.float64)
    window = gs.ones(3, dtype=gs.float64)
    found = gs.stft(
        signal, 8, 1, 3, window=window, center=False, align_to_window=True, return_complex=True
    )
    assert found.shape == (5, 8)
    np.testing.assert_allclose(found[0].real.numpy(), np.arange(3, 25, 3))


REFUSED: dict[str, Any] = {
    "half a window": lambda lib: lib.hann_window(3.5),
    "half a triangle": lambda lib: lib.bartlett_window(2.5),
    "half a sample": lambda lib: lib.fft.fftfreq(4.5),
    "half a frequency": lambda lib: lib.fft.rfftfreq(4.5),
    "whole frequencies": lambda lib: lib.fft.fftfreq(4, dtype=lib.int64),
    "whole positive frequencies": lambda lib: lib.fft.rfftfreq(4, dtype=lib.int64),
    "a negative length": lambda lib: lib.fft.fft(lib.ones(4), -1),
    "a negative length of half": lambda lib: lib.fft.irfft(lib.ones(4), -1),
    "aligned and centred": lambda lib: lib.stft(
        lib.ones(9), 4, align_to_window=True, return_complex=True
    ),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(torch: Any, name: str) -> None:
    assert_same(lambda library: attempt(lambda: REFUSED[name](library)), torch)
