"""BLAS and LAPACK: of the library that NumPy's wheel brings, else by SciPy's pointers for Cython.

NumPy has loaded its library, and eager products have started its threads. A second one costs tens
of megabytes, and half a second where nothing else loads it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

ROUTINES: Final = ("sgemm", "dgemm", "strsm", "dtrsm", "strsv", "dtrsv")
LAPACK_ROUTINES: Final = ("spotrf", "dpotrf")
_INTEGERS: Final = {"64_": "int64_t", "": "int"}
"""The C type of a library's integers, by what its names end in."""


class Library(NamedTuple):
    """Find the BLAS routines that programs call."""

    pointers: dict[str, int]
    integer: str
    """The C type of its integers."""
    thread_counts: tuple[int, int] | None
    """The addresses of what gets and sets its number of threads, if it is an OpenBLAS."""


@cache
def library() -> Library | None:
    """Return the library that programs call; None where there is none."""
    return of_numpy() or of_scipy()


def of_numpy() -> Library | None:
    """Return the library of NumPy's wheel; None where NumPy has another one, or none."""
    for path in _libraries_of(np):
        library = ctypes.CDLL(str(path))  # which NumPy has loaded before
        for suffix, integer in _INTEGERS.items():
            names = (*ROUTINES, *LAPACK_ROUTINES)
            found = {name: _symbol(library, f"scipy_{name}_{suffix}") for name in names}
            if None not in found.values():
                pointers = {name: address or 0 for name, address in found.items()}
                return Library(pointers, integer, _thread_counts(library))
    return None


def of_scipy() -> Library | None:
    """Return the library that SciPy calls; None without SciPy."""
    try:
        blas, lapack = _module("cython_blas"), _module("cython_lapack")
    except ImportError:
        return None
    import scipy

    pointers = {
        name: _address(module.__pyx_capi__[name])
        for module, names in ((blas, ROUTINES), (lapack, LAPACK_ROUTINES))
        for name in names
    }
    counts = (_thread_counts(ctypes.CDLL(str(path))) for path in _libraries_of(scipy))
    return Library(pointers, "int", next(filter(None, counts), None))


def threads() -> int:
    """Return how many threads BLAS has; 1 where it does not tell."""
    found = library()
    if found is None or found.thread_counts is None:
        return 1
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(found.thread_counts[0])())


def connect(program: ctypes.CDLL) -> None:
    """Tell a loaded program where BLAS is."""
    found = library()
    for name, address in found.pointers.items() if found is not None else ():
        ctypes.c_void_p.in_dll(program, f"gs_{name}").value = address


def _libraries_of(package: Any) -> Iterator[Path]:
    """Find the OpenBLAS libraries that a package's wheel brings."""
    place = Path(package.__file__).parent
    for folder in (place.parent / f"{place.name}.libs", place / ".dylibs"):
        yield from sorted(folder.glob("*openblas*"))


def _thread_counts(library: ctypes.CDLL) -> tuple[int, int] | None:
    for spelled in ("scipy_{}", "{}", "scipy_{}64_", "{}64_"):
        get = _symbol(library, spelled.format("openblas_get_num_threads"))
        set_ = _symbol(library, spelled.format("openblas_set_num_threads"))
        if get and set_:
            return get, set_
    return None


def _symbol(library: ctypes.CDLL, name: str) -> int | None:
    if not hasattr(library, name):
        return None
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def _module(name: str) -> Any:
    """Return a module of `scipy.linalg`, without the rest of it: a tenth of the time and memory."""
    full = f"scipy.linalg.{name}"
    if "scipy.linalg" not in sys.modules:
        import scipy

        spec = PathFinder.find_spec(full, [str(Path(scipy.__file__).parent / "linalg")])
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules.pop(full, None)  # so that `import scipy.linalg` finds nothing half done
            return module
    return import_module(full)


def _address(capsule: Any) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    found = pointer(capsule, name(capsule))
    assert found
    return int(found)
