"""Transforms of the parts of a tensor along a dimension, each by a transform of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.registry import ops
from . import constraints
from .scalar_transforms import Transform, sum_rightmost


class _Parts(Transform):
    """Base of transforms that take tensors apart along `dim`, and join the images."""

    def __init__(self, transforms: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(transform, Transform) for transform in transforms):
            raise TypeError(f"{type(self).__name__} takes a sequence of Transforms")
        super().__init__(cache_size)
        made = [part.with_cache(cache_size) if cache_size else part for part in transforms]
        self.transforms = made
        self.dim = dim

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Return whether all transforms are bijective."""
        return all(transform.bijective for transform in self.transforms)

    def _apart(self, value: Any) -> list[Any]:
        raise NotImplementedError

    def _joined(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        pairs = zip(self.transforms, self._apart(x), strict=True)
        return self._joined([transform(part) for transform, part in pairs])

    def _inverse(self, y: Any) -> Any:
        pairs = zip(self.transforms, self._apart(y), strict=True)
        return self._joined([transform._inv_call(part) for transform, part in pairs])

    def _changes(self, x: Any, y: Any) -> list[Any]:
        """Compute `log |dy/dx|` of each part."""
        groups = zip(self.transforms, self._apart(x), self._apart(y), strict=True)
        return [transform.log_abs_det_jacobian(a, b) for transform, a, b in groups]


class CatTransform(_Parts):
    """Transforms of pieces of the given lengths, 1 by default, along `dim`.

    Tensors have as many elements along `dim` as the lengths together: ValueError otherwise.
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(
                f"{len(self.transforms)} transforms, but {len(self.lengths)} lengths of pieces"
            )

    @property
    def event_dim(self) -> int:
        """Return the most dimensions that a transform takes as one."""
        return max(transform.event_dim for transform in self.transforms)

    @property
    def length(self) -> int:
        """Return the length of all pieces together."""
        return sum(self.lengths)

    @property
    def domain(self) -> Any:
        """Return what each piece must be."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self) -> Any:
        """Return what the image of each piece is."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _apart(self, value: Any) -> list[Any]:
        if value.shape[self.dim] != self.length:
            raise ValueError(
                f"the pieces have {self.length} elements together, but dimension {self.dim} of "
                f"{tuple(value.shape)} has {value.shape[self.dim]}"
            )
        return list(value.split(self.lengths, self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return ops.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`, of each event."""
        changes = [
            sum_rightmost(change, self.event_dim - transform.event_dim)
            for transform, change in zip(self.transforms, self._changes(x, y), strict=True)
        ]
        dim = (self.dim if self.dim < 0 else self.dim - x.ndim) + self.event_dim
        return ops.cat(changes, dim) if dim < 0 else sum(changes)


class StackTransform(_Parts):
    """Transforms of the slices along `dim`, of which there are as many as transforms."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    @property
    def domain(self) -> Any:
        """Return what each slice must be."""
        return constraints.stack([transform.domain for transform in self.transforms], self.dim)

    @property
    def codomain(self) -> Any:
        """Return what the image of each slice is."""
        return constraints.stack([transform.codomain for transform in self.transforms], self.dim)

    def _apart(self, value: Any) -> list[Any]:
        if value.shape[self.dim] != len(self.transforms):
            raise ValueError(
                f"there are {len(self.transforms)} transforms, but dimension {self.dim} of "
                f"{tuple(value.shape)} has {value.shape[self.dim]} slices"
            )
        return list(value.unbind(self.dim))

    def _joined(self, parts: list[Any]) -> Any:
        return ops.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Compute `log |dy/dx|` of `y = transform(x)`, of each slice."""
        return self._joined(self._changes(x, y))
