"""Freed memory stays with the process, so that the next arrays cost no page faults."""

import platform
import subprocess
import sys

import pytest

import gradspec as gs
from gradspec import memory

PROGRAM = """
import ctypes
import numpy as np
import gradspec as gs

class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

kept = getattr(ctypes.CDLL(None), "mallinfo2", lambda: Mallinfo2(fordblks=0))
kept.restype = Mallinfo2
gs.set_num_threads(2)
for elements in (2, 1 << 19):
    gs.zeros(elements).exp()
    blocks = [np.ones(1 << 20) for _ in range(20)]
    del blocks[::-1]
    del blocks
    print(kept().fordblks >> 20)
"""


def test_where_arrays_are_large_more_is_kept() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    before, after = map(int, run.stdout.split())
    assert before < 64
    assert after >= (150 if platform.libc_ver()[0] == "glibc" else 0)


def test_the_options_of_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[int, int] = {}

    class Library:
        def __init__(self, name: None) -> None:
            del name

        mallopt = staticmethod(options.__setitem__)

    monkeypatch.setattr("ctypes.CDLL", Library)
    memory.keep_more_freed_memory()
    assert options == {-1: 1 << 29, -3: 1 << 25}


def test_other_c_libraries_have_no_such_option(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (AttributeError, OSError, TypeError):

        def refuse(name: object, error: type[Exception] = error) -> object:
            raise error(name)

        monkeypatch.setattr("ctypes.CDLL", refuse)
        memory.keep_more_freed_memory()
    assert gs.ones(2).exp().shape == (2,)
