"""Memory of outputs: that of an argument only where a view is declared, and never that of another.

What is written into one tensor in place must be seen in others where the graph knows of it, and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from ...spec.model import OpSpec
from ..identities.identity import Mismatch

Array = np.ndarray[Any, Any]


def check_memory(spec: OpSpec, values: dict[str, Any], outputs: dict[str, Array]) -> None:
    """Raise Mismatch for outputs that lie where the signature does not say, or elsewhere."""
    viewed = spec.signature.view_of
    if viewed is not None:
        _check_views(viewed, values, outputs)
        return
    for name, output in outputs.items():
        if not output.flags.writeable:
            text = "cannot be written into, as an op in place would: copy it"
            raise Mismatch(name, "forward", text)
    arguments = [array for value in values.values() for array in _arrays(value)]
    for name, output in outputs.items():
        if any(np.shares_memory(output, array) for array in arguments):
            raise Mismatch(
                name,
                "forward",
                "shares the memory of an argument, and is "
                "declared no view: `-> Tensor(a)` of `Tensor(a)`, or copy it",
            )
    for (one, first), (other, second) in combinations(outputs.items(), 2):
        if np.may_share_memory(first, second) and np.shares_memory(first, second):
            raise Mismatch(
                other,
                "forward",
                f"shares the memory of {one}: what is written into one would change both; copy it",
            )


def _check_views(viewed: str, values: dict[str, Any], outputs: dict[str, Array]) -> None:
    """Look for outputs that are declared views of an argument, and hold elements of their own."""
    bases = list(_arrays(values[viewed]))
    for name, output in outputs.items():
        if output.size and not any(np.shares_memory(output, base) for base in bases):
            raise Mismatch(
                name,
                "forward",
                f"is declared a view of {viewed}, and does not share its memory: what is written "
                "into it would not be seen there; declare `-> Tensor`",
            )


def _arrays(value: Any) -> Iterator[Array]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, np.ndarray) and item.size:
            yield item
