"""Types that signatures of generated code are written in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    DTypeLike: TypeAlias = np.dtype[Any] | type[Any] | str
else:
    DTypeLike: TypeAlias = Any

Number: TypeAlias = int | float | complex
"""A Python number: what ATen calls a Scalar."""
