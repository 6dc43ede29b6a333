"""The runtime's source files, which the generator reads and never imports."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from pathlib import Path


@functools.cache
def runtime_directory() -> Path:
    """Find the folder of the runtime, without importing it."""
    found = find_spec("gradspec")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("gradspec is not installed: run `pip install -e .`")
    return Path(found.submodule_search_locations[0])


@functools.cache
def runtime_abi() -> int:
    """The number of the runtime's ABI, which generated packages are stamped with."""
    text = (runtime_directory() / "extension.py").read_text(encoding="utf-8")
    return int(text.partition("\nABI: Final = ")[2].partition("\n")[0])
