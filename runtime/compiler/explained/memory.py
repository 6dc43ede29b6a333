"""Memory of a program: where each value lies, for how long, and on whose bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from ..program import Value
from .texts import count, names, wrapped

Kind = Literal[
    "input", "constant", "output", "array", "arena", "stack", "row", "register", "nowhere"
]

MEANINGS: Final[dict[str, str]] = {
    "output": "allocated at each call, and returned",
    "array": "allocated by the call that makes it",
    "arena": "memory that is kept between calls, which values use in turns",
    "stack": "on the stack of a C function",
    "row": "in a buffer for one row at a time, on the stack",
    "register": "never in memory",
    "nowhere": "not made by itself: its copy is made at once, or nothing needs it",
    "input": "memory of the caller",
    "constant": "kept with the program",
}


@dataclass(frozen=True)
class Storage:
    """The place of a value."""

    value: Value
    kind: Kind
    """A key of `MEANINGS`."""
    nbytes: int
    """Bytes that are set aside for it: for one row of a "row", and 0 where it is not in memory."""
    first: int
    """The group that makes it, by its number; 0 for inputs and constants."""
    last: int
    """The last group that reads it; one more than there are for results, 0 if nothing does."""
    offset: int | None = None
    """Bytes from the start of the arena."""
    shares: tuple[Value, ...] = ()
    """Values on whose bytes it lies: the last ones that had them before."""


@dataclass(frozen=True)
class MemoryPlan:
    """The places of all values of a program, and the sums of their bytes."""

    storages: tuple[Storage, ...]
    temporary_bytes: int
    """Bytes for what is not returned: the arena, and arrays that calls of Python allocate."""
    unshared_bytes: int
    """The same if no value took over the bytes of another."""
    output_bytes: int
    """Bytes that are allocated at each call for results, and for what is saved."""

    @cached_property
    def by_value(self) -> dict[Value, Storage]:
        """The storage of each value."""
        return {storage.value: storage for storage in self.storages}

    @property
    def totals(self) -> str:
        """The sums, as text."""
        shared = ""
        if self.unshared_bytes != self.temporary_bytes:
            shared = f" ({self.unshared_bytes:,} without sharing)"
        return (
            f"{count(self.temporary_bytes, 'byte')} of temporary memory{shared}, "
            f"{count(self.output_bytes, 'byte')} of results"
        )

    def lines(self) -> list[str]:
        """Return the plan as text: a table of what is in memory, and names of what is not."""
        found = [self.totals]
        shown = [each for each in self.storages if each.kind not in ("register", "nowhere")]
        width = max([len(str(each.value)) for each in shown], default=0)
        for kind in MEANINGS:
            here = [each for each in self.storages if each.kind == kind]
            if not here:
                continue
            found.append(f"{kind}: {MEANINGS[kind]}")
            if kind in ("register", "nowhere"):
                found += wrapped((each.value.name for each in here), "  ")
            else:
                found += [_line(each, width) for each in here]
        return found


def _line(storage: Storage, width: int) -> str:
    """Return a line of the table."""
    text = f"  {storage.value!s:<{width}} {count(storage.nbytes, 'byte'):>16}  "
    if storage.offset is not None:
        text += f"at {storage.offset:<10,}"
    if storage.kind == "output":
        text += f"from group {storage.first}"
    elif storage.first == storage.last:
        text += f"group {storage.first}" if storage.first else ""
    elif storage.first:
        text += f"groups {storage.first}–{storage.last}"
    if storage.shares:
        text += f", in the place of {names(storage.shares)}"
    return text.rstrip()
