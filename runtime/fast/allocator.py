"""The amount of freed memory that the process keeps: the C library's default, unless set.

glibc hands memory back to the system as soon as twice the size of the largest block freed so far
is idle at the end of the heap; the next array then costs a page fault for every 4 KiB, which is
more than adding two arrays of that size. What that is set to concerns the whole process, so it is
the program's to say.
"""

from __future__ import annotations

from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""The numbers of glibc's `M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD`."""

_USUAL: Final = 128 << 10
"""The initial value of both in glibc."""

_LARGEST_BLOCK: Final = 32 << 20
"""The most that glibc allows for a block of the heap; larger ones go back at once by themselves."""


def set_allocator_cache(num_bytes: int) -> bool:
    """Let the C library keep up to `num_bytes` of freed memory for the next arrays.

    This is for all of the process, not only for tensors. Programs that go on making arrays of a
    hundred kilobytes or more are faster with `set_allocator_cache(512 << 20)`; 0 keeps next to
    nothing. Until it is called nothing is changed. Answers whether there is such an option: glibc
    has it, other C libraries take no notice. ValueError for a negative number.
    """
    if isinstance(num_bytes, bool) or not isinstance(num_bytes, int):
        raise TypeError(f"set_allocator_cache expects an int, but got {type(num_bytes).__name__}")
    if not 0 <= num_bytes < 1 << 31:
        raise ValueError(f"set_allocator_cache expects 0 to 2**31 - 1 bytes, but got {num_bytes}")
    from ctypes import CDLL  # slow to import, and few programs ask

    try:
        set_option = CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    set_option(_TRIM_THRESHOLD, max(num_bytes, _USUAL))
    # Setting one ends that glibc adjusts the other.
    set_option(_MMAP_THRESHOLD, min(max(num_bytes, _USUAL), _LARGEST_BLOCK))
    return True
