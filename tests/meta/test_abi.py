"""The number of the ABI counts up with what generated packages need of the runtime."""

from __future__ import annotations

import hashlib
import inspect
from importlib import import_module

from gradspec import extension
from gradspec_codegen.render.module_names import RUNTIME_NAMES
from gradspec_codegen.spec.runtime_files import runtime_abi

KNOWN = {1: "24fe6ea90931", 2: "28df6011f44d"}
"""The digest of what the runtime offers to generated code, by the number of the ABI.

Once a version has been released its line stays: what changes needs a new number. Until then the
digest of the last line may be replaced.
"""


def offered() -> str:
    """Every name that generated code may import, with its parameters, as text."""
    lines = []
    for module, names in sorted(RUNTIME_NAMES.items()):
        for name in names:
            value = getattr(import_module(module), name)
            is_function = inspect.isfunction(value)
            lines.append(f"{module}.{name}{inspect.signature(value) if is_function else ''}")
    return "\n".join(lines)


def test_a_new_abi_has_a_new_number() -> None:
    digest = hashlib.sha256(offered().encode()).hexdigest()[:12]
    last = max(KNOWN)
    assert last == extension.ABI
    assert digest == KNOWN[last], (
        f"what generated code may use of the runtime has changed: if gradspec has been released "
        f"with ABI {last}, count it up in runtime/extension.py; write {digest!r} here"
    )


def test_the_generator_reads_the_number_without_importing_the_runtime() -> None:
    assert runtime_abi() == extension.ABI
