"""Arguments of a call with other arrays in the place of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]


def arrays_of(values: Iterable[Any]) -> Iterator[Array]:
    """Yield the arrays among values, and among the items of lists."""
    for value in values:
        several = value if isinstance(value, list) else [value]
        yield from (each for each in several if isinstance(each, np.ndarray))


def with_floats(
    values: dict[str, Any], change: Callable[[Array], Any], kinds: str = "f"
) -> dict[str, Any]:
    """Return the arguments with arrays of floats changed; `kinds` "fc": of complex ones, too."""

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(item) for item in value]
        is_float = isinstance(value, np.ndarray) and value.dtype.kind in kinds
        return change(value) if is_float else value

    return {name: changed(value) for name, value in values.items()}


def in_dtype(values: dict[str, Any], dtype: Any) -> dict[str, Any]:
    """Return the arguments with copies of all arrays of floats in another dtype."""
    return with_floats(values, lambda array: array.astype(dtype))


def apart(array: Array) -> Array:
    """Return the same elements with gaps between them."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array
