"""Memory that is shared by the DLPack protocol."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


class Holder:
    """An object of another library, with memory that the protocol gives away."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.tensor.__dlpack_device__()


def test_capsules(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        given = library.arange(6.0).reshape(2, 3).t()
        taken = library.from_dlpack(library.utils.dlpack.to_dlpack(given))
        taken[0] = 9.0
        return [
            given,
            list(taken.stride()),
            list(library.from_dlpack(library.utils.dlpack.to_dlpack(library.ones(0, 3))).shape),
        ]

    assert_same(behaviour, torch)


def test_tensors_of_objects_with_the_protocol(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        given = library.ones(2)
        copied, shared = library.tensor(Holder(given)), library.as_tensor(Holder(given))
        cast = library.tensor(Holder(given), dtype=library.int64)
        given[0] = 5.0
        return [copied, shared, cast, library.as_tensor(Holder(given), dtype=library.float64)]

    assert_same(behaviour, torch)


@pytest.mark.parametrize("stream", [None, -1, 1, "text"])
def test_streams(torch: Any, stream: Any) -> None:
    def behaviour(library: Any) -> Any:
        return type(attempt(lambda: library.ones(2).__dlpack__(stream=stream))).__name__, attempt(
            lambda: library.from_dlpack(library.ones(2).__dlpack__(stream=stream))
        )

    assert_same(behaviour, torch)


def test_tensors_of_tensors_are_views(torch: Any) -> None:
    def behaviour(library: Any) -> Any:
        class Derived(library.Tensor):  # type: ignore[misc]
            pass

        results = []
        for make in (library.Tensor, library.FloatTensor, library.zeros(1).new, Derived):
            plain, leaf = library.ones(2), library.ones(2, requires_grad=True)
            view = make(plain)
            view[0] = 5.0
            made = make(leaf)
            (made * 3).sum().backward()
            results += [view, plain, plain._version, view._is_view(), view._base is plain]
            results += [made, type(made).__name__, leaf.grad]
            results += [attempt(partial(make, plain.double()))]
        return results

    assert_same(behaviour, torch)
