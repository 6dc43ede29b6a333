"""Limits of dtypes are PyTorch's, and Python's numbers."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle

DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "int8")


@pytest.mark.parametrize("name", DTYPES)
def test_finfo(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        def limits() -> Any:
            info = library.finfo(getattr(library, name))
            numbers = [info.eps, info.max, info.min, info.resolution, info.tiny]
            return [info.bits, *numbers, info.smallest_normal, {type(n).__name__ for n in numbers}]

        return attempt(limits)

    assert_same(behaviour, torch)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64", "bool", "float32"])
def test_iinfo(torch: Any, name: str) -> None:
    def behaviour(library: Any) -> Any:
        def limits() -> Any:
            info = library.iinfo(getattr(library, name))
            return [info.bits, info.max, info.min, repr(info), info.dtype == name]

        return attempt(limits)

    assert_same(behaviour, torch)


def test_limits_of_one_dtype_are_equal(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        narrow, wide = library.finfo(library.float32), library.finfo(library.float64)
        small, large = library.iinfo(library.int8), library.iinfo(library.int64)
        return [
            narrow == library.finfo(),
            narrow == wide,
            narrow != wide,
            small == library.iinfo(library.int8),
            small == large,
            small == narrow,
        ]

    assert_same(behaviour, torch)


def test_default(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        narrow = library.zeros(2, dtype=library.float16)
        return [repr(library.finfo()), narrow + 2 * library.finfo(library.float16).max]

    assert_same(behaviour, torch)


def test_groups_of_optimizers_end_with_their_parameters(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        optimizer = library.optim.SGD([library.zeros(2, requires_grad=True)], lr=0.1)
        return list(optimizer.state_dict()["param_groups"][0])[-1]

    assert_same(behaviour, torch)
