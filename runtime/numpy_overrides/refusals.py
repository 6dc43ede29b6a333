"""Functions of NumPy that have no override, and why."""

from __future__ import annotations

from typing import Final

_WRITES = "it writes to an array, which no gradient could follow"
_DATES = "there are no tensors of dates and texts"

REFUSED: Final = {
    **dict.fromkeys(
        ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"], _WRITES
    ),
    **dict.fromkeys(["busday_count", "busday_offset", "datetime_as_string", "is_busday"], _DATES),
}
"""The reason by the name of the function, below `numpy`."""
