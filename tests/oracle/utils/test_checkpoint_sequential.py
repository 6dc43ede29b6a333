"""Segments of checkpointed sequences: PyTorch's gradients, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from ..behaviours import assert_same, attempt

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("segments", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_segments(torch: Any, count: int, segments: int) -> None:
    def behaviour(library: Any) -> Any:
        x = library.tensor([0.3, -1.2], dtype=library.float64, requires_grad=True)
        run = library.utils.checkpoint.checkpoint_sequential

        def gradient() -> Any:
            out = run([library.sin] * count, segments, x, use_reentrant=False)
            return library.autograd.grad(out.sum(), x)[0]

        return attempt(gradient)

    assert_same(behaviour, torch)
