"""Functions of NumPy that have no twin, and why."""

from __future__ import annotations

from typing import Final

_WRITES = "it writes to an array, which no gradient could follow"
_DATES = "there are no tensors of dates and texts"
_EIGENVALUES = "eigenvalues of matrices that are not symmetric are not in the table"
_ORDER = "it leaves open in what order elements are: np.sort and np.argsort do more"

REFUSED: Final = {
    **dict.fromkeys(
        ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"], _WRITES
    ),
    **dict.fromkeys(["busday_count", "busday_offset", "datetime_as_string", "is_busday"], _DATES),
    **dict.fromkeys(["argpartition", "partition"], _ORDER),
    "roots": _EIGENVALUES,
    "linalg.eig": _EIGENVALUES,
    "linalg.eigvals": _EIGENVALUES,
}
"""The reason by the name of the function, below `numpy`."""
