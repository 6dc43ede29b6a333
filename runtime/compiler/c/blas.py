"""BLAS and LAPACK, by the pointers that SciPy exports to Cython."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, Final

ROUTINES: Final = ("sgemm", "dgemm", "strsm", "dtrsm", "strsv", "dtrsv")
LAPACK_ROUTINES: Final = ("spotrf", "dpotrf")


@cache
def pointers() -> dict[str, int] | None:
    """Return the addresses of the routines that programs call; None without SciPy."""
    try:
        blas, lapack = _module("cython_blas"), _module("cython_lapack")
    except ImportError:
        return None
    return {
        name: _address(module.__pyx_capi__[name])
        for module, names in ((blas, ROUTINES), (lapack, LAPACK_ROUTINES))
        for name in names
    }


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


def connect(library: ctypes.CDLL) -> None:
    """Tell a loaded program where BLAS is."""
    for name, address in (pointers() or {}).items():
        ctypes.c_void_p.in_dll(library, f"gs_{name}").value = address


@cache
def thread_counts() -> tuple[int, int] | None:
    """The addresses of what gets and sets the number of threads of SciPy's BLAS.

    None where it is none of the OpenBLAS libraries that SciPy's wheels bring.
    """
    import scipy

    place = Path(scipy.__file__).parent
    for folder in (place.parent / "scipy.libs", place / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            get, set_ = (_symbol(path, f"openblas_{verb}_num_threads") for verb in ("get", "set"))
            if get and set_:
                return get, set_
    return None


def _symbol(path: Path, name: str) -> int | None:
    library = ctypes.CDLL(str(path))  # which SciPy has loaded before
    for spelled in (f"scipy_{name}", name, f"scipy_{name}64_", f"{name}64_"):
        if hasattr(library, spelled):
            return ctypes.cast(getattr(library, spelled), ctypes.c_void_p).value
    return None
