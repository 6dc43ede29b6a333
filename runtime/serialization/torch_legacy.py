"""States in the format that `torch.save` had before PyTorch 1.6, and has on demand.

Such a file is a row of pickles: a number that says what it is, the version of the format, facts of
the machine that wrote it, the state, and the keys of its storages, whose bytes follow.
"""

from __future__ import annotations

from typing import IO, Any, Final

import numpy as np

from .errors import FormatError
from .torch_archive import Array, Machine, Storage

_MAGIC: Final = 0x1950A86A20F9469CFC6C
_VERSION: Final = 1001
BEGINNING: Final = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The first bytes of every such file."""


def read_torch_legacy(file: IO[bytes]) -> Any:
    """Read a state from a file that continues with `BEGINNING`; the file then is at its end."""
    if (Machine(_no_storage).run(file), Machine(_no_storage).run(file)) != (_MAGIC, _VERSION):
        raise FormatError("the file has another version of PyTorch's older format")
    facts = Machine(_no_storage).run(file)
    order = "little" if type(facts) is dict and facts.get("little_endian") is True else "big"
    start = file.tell()
    kinds: dict[str, tuple[Storage, int]] = {}

    def note(kind: Storage, key: str, count: Any) -> Array:
        if type(count) is not int or not 0 <= count <= _bytes_left(file):
            raise FormatError(f"the storage {key} is said to have {count} elements")
        kinds[key] = (kind, count)
        return np.zeros(count, np.float32 if kind.is_bfloat16 else kind.dtype)

    # The state comes before the bytes that it is made of, so that its program runs twice.
    Machine(note).run(file)
    keys = Machine(_no_storage).run(file)
    if type(keys) is not list or set(keys) != set(kinds):
        raise FormatError("the file has other storages than its state")
    storages = {key: _read_storage(file, *kinds[key], order) for key in keys}
    end = file.tell()
    file.seek(start)
    state = Machine(lambda kind, key, count: storages[key]).run(file)
    file.seek(end)
    return state


def _read_storage(file: IO[bytes], kind: Storage, count: int, order: str) -> Array:
    written = int.from_bytes(file.read(8), "little" if order == "little" else "big")
    data = file.read(count * kind.dtype.itemsize)
    if written != count or len(data) != count * kind.dtype.itemsize:
        raise FormatError("the file is damaged: a storage has another length than the state says")
    return kind.values(data, order)


def _no_storage(kind: Storage, key: str, count: Any) -> Array:
    raise FormatError("the file has a storage in a wrong place")


def _bytes_left(file: IO[bytes]) -> int:
    here = file.tell()
    end = file.seek(0, 2)
    file.seek(here)
    return end - here
