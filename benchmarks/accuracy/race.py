"""One op at the points of its sweep, in every library that has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradspec_codegen.lint.subjects import Subject
from gradspec_codegen.lint.sweep import BOUNDS, Swept, comparisons
from gradspec_codegen.spec.model import Table

from .along import along
from .peers import PEERS

GRADSPEC = "gradspec"


@dataclass(frozen=True, slots=True)
class Entry:
    """The errors of one library in one quantity of one op."""

    library: str
    swept: Swept
    along: str
    """The errors along the first argument, as in `along.py`."""

    @property
    def is_above(self) -> bool:
        """Return whether the worst error is above the bound, also where gradspec excuses it."""
        return self.swept.worst > BOUNDS[self.swept.dtype]


def race(subject: Subject, table: Table, *, thin: int) -> list[Entry]:
    """Sweep an op in gradspec and in its peers. Raises NotSymbolic if there are no exact values."""
    found = []
    for comparison in comparisons(subject, table, thin=thin):
        ours = comparison.results(subject)
        first = [point[0] for point in comparison.points]
        results = [(GRADSPEC, quantity, values) for quantity, values in ours.items()]
        columns = [np.array(c, comparison.dtype) for c in zip(*comparison.points, strict=True)]
        for peer in PEERS:
            theirs = peer.computed(subject, columns) if peer.is_installed else None
            for quantity, values in (theirs or {}).items():
                if values.dtype == comparison.dtype and values.shape == columns[0].shape:
                    results.append((peer.name, quantity, values))
        for library, quantity, values in results:
            letters = along(first, comparison.errors(quantity, values))
            found.append(Entry(library, comparison.of(quantity, values), letters))
    return found
