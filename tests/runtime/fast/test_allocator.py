"""`set_allocator_cache`, and that nothing is tuned unless it is called."""

import platform
import subprocess
import sys

import pytest

from gradspec.fast import allocator as memory

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
for is_asked in (False, True):
    if is_asked:
        assert gs.set_allocator_cache(512 << 20) or not hasattr(ctypes.CDLL(None), "mallopt")
    gs.zeros(1 << 20).exp()
    blocks = [np.ones(1 << 20) for _ in range(20)]
    del blocks[::-1]
    del blocks
    print(kept().fordblks >> 20)
"""


def test_more_is_kept_where_it_is_asked_for_and_not_before() -> None:
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
    assert memory.set_allocator_cache(1 << 29)
    assert options == {-1: 1 << 29, -3: 1 << 25}
    assert memory.set_allocator_cache(0)
    assert options == {-1: 128 << 10, -3: 128 << 10}


def test_other_c_libraries_have_no_such_option(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (AttributeError, OSError, TypeError):

        def refuse(name: object, error: type[Exception] = error) -> object:
            raise error(name)

        monkeypatch.setattr("ctypes.CDLL", refuse)
        assert not memory.set_allocator_cache(1 << 29)


@pytest.mark.parametrize(
    ("num_bytes", "error"), [(-1, ValueError), (1 << 31, ValueError), (1.5, TypeError)]
)
def test_what_is_no_number_of_bytes(num_bytes: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="set_allocator_cache expects"):
        memory.set_allocator_cache(num_bytes)
