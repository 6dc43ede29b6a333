"""BLAS, by the pointers that SciPy exports to Cython."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

ROUTINES: Final = ("sgemm", "dgemm", "strsm", "dtrsm")


@cache
def pointers() -> dict[str, int] | None:
    """Return the addresses of the routines that programs call; None without SciPy."""
    try:
        from scipy.linalg import cython_blas
    except ImportError:
        return None
    capsules: dict[str, Any] = cython_blas.__pyx_capi__
    return {name: _address(capsules[name]) for name in ROUTINES}


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
