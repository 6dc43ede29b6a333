"""Types that signatures of generated code are written in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import DTypeLike as DTypeLike  # slow to import
else:
    DTypeLike: TypeAlias = Any

Number: TypeAlias = int | float | complex
"""A Python number: what ATen calls a Scalar."""

Primals: TypeAlias = Mapping[str, Any]
"""All arguments of an op by ATen name, tensors without their tangents."""

Tangents: TypeAlias = Mapping[str, Any]
"""The tangents of its differentiable arguments."""
