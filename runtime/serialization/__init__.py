"""Files of tensors: written by `save` and read by `load`, which executes nothing.

`load` reads PyTorch's checkpoints of states, too, without PyTorch.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from ..core.devices import check_device
from ..core.missing import explaining as _explaining
from .archive import INDEX, open_archive, read_archive, write_archive
from .atomic import replaced
from .errors import FormatError
from .safetensors_files import load_safetensors, save_safetensors
from .torch_archive import read_torch_archive
from .torch_legacy import BEGINNING, read_torch_legacy
from .torch_writer import write_torch_archive

__all__ = ["FormatError", "load", "save", "save_for_torch"]

__getattr__ = _explaining(__name__)

File: TypeAlias = str | os.PathLike[str] | IO[bytes]


def save(
    obj: Any,
    f: File,
    pickle_module: Any = None,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and lists, dicts, numbers and texts that hold them, to a file.

    The file is a zip of `.npy` files and a JSON index. Under a path it is replaced at once: if the
    process is killed, there is the old file or the new one. Tensors that share memory do so when
    they are loaded. With a path that ends in `.safetensors`, a dict of tensors is written in that
    format. TypeError for anything else, such as a module: save its `state_dict()`. The other
    arguments, which are PyTorch's, choose nothing: nothing is pickled.
    """
    if _is_safetensors(f):
        save_safetensors(obj, os.fspath(f))  # type: ignore[arg-type]
    else:
        _write(write_archive, obj, f)


def save_for_torch(obj: Any, f: File) -> None:
    """Write a state as PyTorch's `torch.load` reads it, in the way of `save`.

    TypeError for what is no tensor, list, tuple, dict, number, text or None.
    """
    _write(write_torch_archive, obj, f)


def _write(write: Callable[[Any, IO[bytes]], None], obj: Any, f: File) -> None:
    if isinstance(f, str | os.PathLike):
        with replaced(f) as file:
            write(obj, file)
    else:
        # An object that is refused leaves no trace in a file that was opened by the caller.
        buffer = io.BytesIO()
        write(obj, buffer)
        f.write(buffer.getbuffer())


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: Any = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` has written, or a state that PyTorch has saved.

    Nothing in the file is executed: `weights_only=False` allows no more, and `pickle_module`,
    `mmap` and `encoding` choose nothing. Of PyTorch's files, in its present format and that before
    PyTorch 1.6, tensors are read, with the containers, numbers and texts around them; bfloat16,
    which NumPy does not have, becomes float32. `map_location` may name the CPU, or be None.
    FormatError, which is a ValueError, for any other file; AttributeError for an object that cannot
    seek.
    """
    if isinstance(map_location, str):
        check_device("load", map_location)
    if _is_safetensors(f):
        return load_safetensors(os.fspath(f))  # type: ignore[arg-type]
    if not isinstance(f, str | os.PathLike) and not hasattr(f, "seekable"):
        f = _read_at_once(f)
    start = 0 if isinstance(f, str | os.PathLike) else f.tell()
    try:
        with open_archive(f) as archive:
            names = archive.namelist()
            if INDEX in names:
                return read_archive(archive)
            pickles = [name for name in names if name.endswith("/data.pkl")]
            if len(pickles) == 1:
                return read_torch_archive(archive, pickles[0].removesuffix("data.pkl"))
    except zipfile.BadZipFile as error:
        with _opened(f, start) as file:
            if file.read(len(BEGINNING)) == BEGINNING:
                file.seek(start)
                return read_torch_legacy(file)
        raise FormatError(
            f"{_name(f)} is no file of gradspec.save, and none of torch.save: {error}."
        ) from None
    raise FormatError(
        f"{_name(f)} is a zip file, but neither of gradspec.save nor of torch.save: there is "
        f"neither {INDEX} nor data.pkl in it"
    )


@contextmanager
def _opened(f: File, start: int) -> Iterator[IO[bytes]]:
    """Open a file, or go back to where a file that is open was."""
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            yield file
    else:
        f.seek(start)
        yield f


def _read_at_once(f: Any) -> IO[bytes]:
    """Wrap an object to read from that lacks some of the methods of files."""
    for method in ("read", "seek"):
        if not hasattr(f, method):
            raise AttributeError(
                f"{type(f).__name__} has no method {method!r}: you can only load from a file that "
                "is seekable. Please pre-load the data into a buffer like io.BytesIO"
            )
    return io.BytesIO(f.read())


def _is_safetensors(f: File) -> bool:
    return isinstance(f, str | os.PathLike) and os.fspath(f).endswith(".safetensors")


def _name(f: File) -> str:
    return os.fspath(f) if isinstance(f, str | os.PathLike) else type(f).__name__
