"""Sample calls of PyTorch's database in compiled programs, which must not keep the data of a call.

A program is captured from one call and run on other numbers. A function that computes with plain
arrays on the way would go on with those of the first call; a capture that is refused says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradspec as gs
from gradspec.compiler.errors import CaptureError
from gradspec.core.tensor import Tensor

from .test_opinfo import NAMES

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

UNINITIALIZED = ("empty", "new_empty", "resize_")
"""Prefixes of names whose values are unspecified."""

SAMPLES = 2


@pytest.mark.parametrize("op", NAMES)
def test_a_program_computes_with_the_data_of_its_call(op: str) -> None:
    from . import opinfo

    compared = refused = 0
    for info in (info for name in NAMES[op] for info in opinfo.infos(name)):
        function = opinfo.function_of(info)
        samples = opinfo.samples(info)
        for sample in samples[:: 1 + len(samples) // SAMPLES]:
            call = opinfo.converted((sample.input, *sample.args)), opinfo.converted(sample.kwargs)
            try:
                compared += _compare(function, call, info.name.startswith(UNINITIALIZED))
            except CaptureError:
                refused += 1
    assert compared or refused


def _compare(function: Callable[..., Any], call: Any, is_uninitialized: bool) -> int:
    """Compare the program of a call with the function, at another call; 0 where there is none."""
    run = gs.compile(lambda given: function(*given[0], **given[1]), backend="numpy")
    gs.manual_seed(0)
    try:
        function(*_with(call, _copy)[0], **_with(call, _copy)[1])
    except (TypeError, ValueError, RuntimeError, NotImplementedError, IndexError):
        return 0
    run(_with(call, _copy))
    for change in (_changed, _with_other_floats):
        args, options = _with(call, change)
        gs.manual_seed(0)
        try:
            expected = function(*args, **options)
        except (TypeError, ValueError, RuntimeError, IndexError):
            continue  # whole numbers that do not fit each other any more
        gs.manual_seed(0)
        found = run(_with(call, change))
        if not is_uninitialized:
            _assert_same(found, expected)
        return 1
    return 0


def _with(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The arguments of a call, with other tensors."""
    if isinstance(value, Tensor):
        return change(value.detach())
    if isinstance(value, list | tuple):
        parts = [_with(item, change) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: _with(item, change) for key, item in value.items()}
    return value


def _copy(tensor: Tensor) -> Tensor:
    return tensor.clone()


def _with_other_floats(tensor: Tensor) -> Tensor:
    """Floats by three quarters, which are positive, or a factor, where they were."""
    return tensor * 0.75 if tensor.is_floating_point() or tensor.is_complex() else tensor.clone()


def _changed(tensor: Tensor) -> Tensor:
    """The same, and other tensors in the opposite order."""
    if tensor.is_floating_point() or tensor.is_complex():
        return _with_other_floats(tensor)
    return tensor.flatten().flip(0).reshape(tensor.shape)


def _assert_same(found: Any, expected: Any) -> None:
    if isinstance(expected, Tensor):
        assert found.dtype == expected.dtype
        ours, wanted = found.detach().numpy(), expected.detach().numpy()
        np.testing.assert_allclose(ours, wanted, rtol=1e-6, atol=1e-8)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            _assert_same(*pair)
    else:
        assert found == expected
