"""The imports of a generated module, as its code needs them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..render.context import ModuleContext, numpy_name
from ..render.module_names import RUNTIME_MODULES, RUNTIME_NAMES


def imports(context: ModuleContext, body: str) -> Iterator[str]:
    """The lines that import what is outside of the package, an empty one between groups."""
    read = set(re.findall(r"[A-Za-z_]\w*", body))
    yield from _standard_imports(read)
    names = [name for name in ("asanyarray", "ndarray") if name in read]
    names += sorted(f"{n} as {numpy_name(n)}" for n in context.numpy if "." not in n)
    yield ""
    if names:
        yield f"from numpy import {', '.join(names)}"
    for name in sorted(name for name in context.numpy if "." in name):
        module, _, function = name.rpartition(".")
        yield f"from numpy.{module} import {function} as {numpy_name(name)}"
    yield ""
    yield from sorted(RUNTIME_MODULES[module] for module in context.modules)
    for module, runtime_names in RUNTIME_NAMES.items():
        used = [name for name in runtime_names if name in read]
        if used:
            yield f"from {module} import {', '.join(used)}"


def _standard_imports(read: set[str]) -> Iterable[str]:
    if "Sequence" in read:
        yield "from collections.abc import Sequence"
    typing = [name for name in ("TYPE_CHECKING", "Any") if name in read]
    if typing:
        yield f"from typing import {', '.join(typing)}"
