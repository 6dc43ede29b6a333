"""`python -m tests.meta.numpy_functions`: write `docs/numpy.md`, NumPy's functions on tensors.

The calls of `tests/runtime/numpy_overrides` show what is differentiable and what has no slope;
what is refused is said, with the reason, in `runtime/numpy_overrides`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import numpy as np

from gradspec.numpy_overrides.refusals import REFUSED
from gradspec.numpy_overrides.ufuncs import REFUSED as REFUSED_UFUNCS
from gradspec.numpy_overrides.values import OF_CONSTANTS
from tests.runtime.numpy_overrides.calls import FLAT, SMOOTH

from .source_tree import ROOT

DOCUMENT = ROOT / "docs" / "numpy.md"


def public_functions() -> set[str]:
    """The functions of NumPy that ask their arguments what to do, by the names they go by."""
    dispatched = type(np.sum)
    found = set()
    for prefix, module in ("", np), ("linalg.", np.linalg), ("fft.", np.fft):
        for name, value in vars(module).items():
            if not name.startswith("_") and isinstance(value, dispatched | np.ufunc):
                found.add(prefix + value.__name__)
    return found


def names_of(calls: dict[str, object]) -> set[str]:
    """The functions that calls show, by the names they go by; no methods of ufuncs."""
    found = set()
    for name in {note.split()[0] for note in calls}:
        home, _, last = name.rpartition(".")
        module = {"": np, "linalg": np.linalg, "fft": np.fft}.get(home)
        if module is not None:
            found.add(f"{home}.".lstrip(".") + vars(module)[last].__name__)
    return found


def differentiable() -> set[str]:
    """The functions through which gradients flow."""
    return names_of(SMOOTH)


def flat() -> set[str]:
    """The functions whose answers have no slope, or are no arrays."""
    return names_of(FLAT) - differentiable() - OF_CONSTANTS


def refused() -> dict[str, str]:
    """The functions that are refused, and why."""
    return REFUSED | REFUSED_UFUNCS


def document() -> str:
    """Return the text of the document."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    groups = differentiable(), flat(), set(OF_CONSTANTS), set(refused())
    yield "# NumPy's functions on tensors"
    yield ""
    yield from _paragraph(
        "`np.sin(x)` of a tensor `x` is a tensor, and a gradient flows through it: tensors answer "
        "NumPy's protocols. These are the functions and ufuncs of `numpy`, `numpy.linalg` and "
        "`numpy.fft` that ask their arguments. Values are compared with NumPy's of arrays, "
        "gradients with differences, by calls that `tests/runtime/numpy_overrides/calls.py` lists; "
        "`python -m tests.meta.numpy_functions` wrote this."
    )
    yield ""
    yield "| | functions |"
    yield "|---|---|"
    yield f"| all | {sum(map(len, groups))} |"
    yield f"| differentiable | {len(groups[0])} |"
    yield f"| without a slope: places, comparisons, what is told of arrays | {len(groups[1])} |"
    yield f"| of tensors that no gradient flows to | {len(groups[2])} |"
    yield f"| refused | {len(groups[3])} |"
    yield ""
    yield from _paragraph(
        "The ufuncs' methods `reduce` and `accumulate` are there for sums, products and extremes, "
        "`outer` for all. Arguments `out` (but for a ufunc's), `where`, `initial`, `order` and "
        "`subok` are refused. What is refused says so with a `TypeError`, and never answers with "
        "an array that a gradient was cut off from."
    )
    titles = "Differentiable", "Without a slope", "Of tensors that no gradient flows to"
    for title, names in zip(titles, groups, strict=False):
        yield from ("", f"## {title}", "")
        yield from _paragraph(_list(names) + ".")
    yield from ("", "## Refused", "")
    by_reason: dict[str, set[str]] = {}
    for name, why in refused().items():
        by_reason.setdefault(why, set()).add(name)
    for why, names in by_reason.items():
        yield from _paragraph(f"- {_list(names)}: {why}.", "  ")


def _list(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _paragraph(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
