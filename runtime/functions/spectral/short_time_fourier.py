"""Fourier transforms of windows of a signal, and the signal back: `stft`, `istft`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...core.user_warnings import warn_once
from ...dispatch.numbers_given import flag_given
from ...dispatch.registry import ops
from ...dtypes.whole_numbers import whole_number

_AS_IT_IS, _BY_ROOT, _BY_LENGTH = 0, 1, 2
"""The divisors of a transform, as PyTorch numbers them."""


def _sizes(name: str, n_fft: Any, hop_length: Any, win_length: Any) -> tuple[Any, Any, Any]:
    """Check that the sizes are whole numbers; of the last two, None stands for a default."""
    hop = None if hop_length is None else whole_number(name, "hop_length", hop_length)
    width = None if win_length is None else whole_number(name, "win_length", win_length)
    return whole_number(name, "n_fft", n_fft), hop, width


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Return the transforms of windows of signals (batch, length): (batch, frequencies, windows).

    Windows of `n_fft` elements lie `hop_length` (a quarter of `n_fft`) apart, and are multiplied
    by `window`, which is centred if shorter. With `center` the signal is padded, by `pad_mode`, so
    that window `t` is centred at `t * hop_length`; without it, `align_to_window` pads with zeros
    so that the first window begins with the signal. `normalized` divides by the root of `n_fft`;
    `onesided`, the default for real signals, leaves out what is conjugate. Without
    `return_complex` real and imaginary parts are a last dimension. RuntimeError for sizes that do
    not fit, and if `return_complex` is missing for a real signal.
    """
    n_fft, hop_length, win_length = _sizes("stft", n_fft, hop_length, win_length)
    flag_given("stft", "center", center)
    flag_given("stft", "normalized", normalized)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    is_complex = input.is_complex() or (window is not None and window.is_complex())
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    _check_signal(input, n_fft, hop, width, window)
    if window is None:
        warn_once(
            "A window was not provided: a rectangular one is applied, whose spectrum leaks. Give "
            "for example window=hann_window(n_fft), or ones(n_fft) if it is meant."
        )
    if not return_complex:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will "
            "return complex tensors for all inputs, and return_complex=False will raise an error."
        )
    signal = input.unsqueeze(0) if input.ndim == 1 else input
    if center:
        half = n_fft // 2
        signal = ops.pad(signal.unsqueeze(0), [half, half], pad_mode).squeeze(0)
    elif align_to_window:
        left = (n_fft - width) // 2
        signal = ops.constant_pad_nd(signal, [left, n_fft - width - left], 0)
    if not 0 < n_fft <= signal.shape[-1]:
        raise RuntimeError(
            f"stft(input {list(input.shape)}): expected 0 < n_fft <= {signal.shape[-1]}, but got "
            f"n_fft={n_fft}"
        )
    frames = signal.unfold(-1, n_fft, hop)
    frames = (
        frames
        if window is None and width == n_fft
        else frames * _centred(window, width, n_fft, input)
    )
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = _BY_ROOT if normalized else _AS_IT_IS
    if frames.is_complex():
        found = ops._fft_c2c(frames, [-1], norm, False)
    else:
        found = ops._fft_r2c(frames, [-1], norm, onesided)
    found = found.transpose(1, 2)
    found = found.squeeze(0) if input.ndim == 1 else found
    return found if return_complex else ops.view_as_real(found)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Return the signals (batch, length) of transforms (batch, frequencies, windows).

    The inverse of `stft`, by least squares: windows are added up, and divided by the sum of the
    squares of `window`. RuntimeError where that sum is zero, and for sizes that do not fit.
    """
    n_fft, hop_length, win_length = _sizes("istft", n_fft, hop_length, win_length)
    flag_given("istft", "center", center)
    flag_given("istft", "normalized", normalized)
    if length is not None:
        length = whole_number("istft", "length", length)
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    onesided = _check_transform(input, n_fft, hop, width, window, onesided, return_complex)
    if window is None:
        warn_once(
            "A window was not provided: a rectangular one is applied. Give the window that stft "
            "was given, or the signal is another one."
        )
    frames = input.unsqueeze(0) if input.ndim == 2 else input
    frames = frames.transpose(1, 2)
    norm = _BY_ROOT if normalized else _BY_LENGTH
    if return_complex:
        pieces = ops._fft_c2c(frames, [-1], norm, True)
    else:
        halves = frames if onesided else frames[..., : n_fft // 2 + 1]
        pieces = ops._fft_c2r(halves, [-1], norm, n_fft)
    weights = _centred(window, width, n_fft, pieces)
    total = n_fft + hop * (frames.shape[1] - 1)
    signal = _added(pieces * weights, total, hop)
    squares = (weights * weights).expand(1, frames.shape[1], n_fft)
    envelope = _added(squares, total, hop)
    start = n_fft // 2 if center else 0
    end = total - start if length is None else start + length
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    smallest = np.abs(envelope.detach().numpy()).min(initial=math.inf)
    if smallest <= 1e-11:
        raise RuntimeError(
            f"window overlap add min: {smallest}: the signal is not determined there"
        )
    signal = signal / envelope
    if length is not None and signal.shape[1] < length:
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded "
            "with zeros in the tail. Please check your center and hop_length settings."
        )
        signal = ops.constant_pad_nd(signal, [0, length - signal.shape[1]], 0)
    return signal.squeeze(0) if input.ndim == 2 else signal


def _added(pieces: Tensor, total: int, hop: int) -> Tensor:
    """The sum of windows (batch, windows, n_fft), each at its place in (batch, total)."""
    return ops.unfold_backward(pieces, [pieces.shape[0], total], 1, pieces.shape[2], hop)


def _centred(window: Tensor | None, width: int, n_fft: int, like: Tensor) -> Tensor:
    """The window with zeros on both sides; of ones if there is none."""
    if window is None:
        window = wrap(np.ones(width, like.array.real.dtype))
    left = (n_fft - width) // 2
    if n_fft == width:
        return window
    return ops.constant_pad_nd(window, [left, n_fft - width - left], 0)


def _check_signal(input: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None) -> None:
    if input.array.dtype.kind not in "fc":
        raise RuntimeError(
            f"stft(input {list(input.shape)}): expected a tensor of floating point or complex "
            "values"
        )
    if input.ndim not in (1, 2):
        raise RuntimeError(f"stft(input {list(input.shape)}): expected a 1D or 2D tensor")
    _check_window("stft", input, n_fft, hop, width, window)


def _check_window(
    name: str, input: Tensor, n_fft: int, hop: int, width: int, window: Tensor | None
) -> None:
    call = f"{name}(input {list(input.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={width})"
    if hop <= 0:
        raise RuntimeError(f"{call}: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"{call}: expected 0 < win_length <= n_fft, but got win_length={width}")
    if window is not None and tuple(window.shape) != (width,):
        raise RuntimeError(
            f"{call}: expected a 1D window tensor of size equal to win_length={width}, but got "
            f"window with size {list(window.shape)}"
        )


def _check_transform(
    input: Tensor,
    n_fft: int,
    hop: int,
    width: int,
    window: Tensor | None,
    onesided: bool | None,
    return_complex: Any,
) -> bool:
    if input.ndim not in (2, 3) or not input.numel():
        raise RuntimeError(
            "istft(...): expected a tensor with 2 or 3 dimensions and some elements, but got "
            f"{list(input.shape)}"
        )
    frequencies = input.shape[-2]
    if onesided is None:
        onesided = frequencies != n_fft
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != wanted:
        raise RuntimeError(
            "istft(...): expected the frequency dimension (3rd to the last) of the input tensor "
            f"to match {'n_fft / 2 + 1' if onesided else 'n_fft'} when onesided={onesided}, but "
            f"got {frequencies}"
        )
    _check_window("istft", input, n_fft, hop, width, window)
    if hop > width:
        raise RuntimeError("istft(...): expected 0 < hop_length <= win_length")
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    return onesided


class ShortTimeMethods:
    """Methods of `Tensor` that are these functions."""

    __slots__ = ()

    def stft(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the transforms of windows: see `gradspec.stft`."""
        return stft(self, *args, **kwargs)

    def istft(self: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the signal of transforms of windows: see `gradspec.istft`."""
        return istft(self, *args, **kwargs)
