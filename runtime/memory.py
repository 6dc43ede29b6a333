"""How much freed memory the process keeps.

glibc hands memory back to the system as soon as twice the size of the largest block freed so far
lies idle at the end of the heap; the next array then costs a page fault for every 4 KiB, which is
more than adding two arrays of that size. A transformer block took 14 ms with this, 10 ms without;
30 sines of a million elements with their gradients 290 ms and 215 ms.
"""

from __future__ import annotations

from typing import Final

import numpy as np

LARGEST_BLOCK: Final = 16 << 20

MOST: Final = 512 << 20
"""What may be kept where arrays are large; where it is more, all of it goes back."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
"""The numbers of glibc's `M_TRIM_THRESHOLD` and `M_MMAP_THRESHOLD`."""


def keep_freed_memory() -> None:
    """Let the C library keep up to 32 MiB, by showing it a large block that is freed.

    The block is never touched, so it costs no memory. Other C libraries take no notice.
    """
    np.empty(LARGEST_BLOCK, np.uint8)


def keep_more_freed_memory() -> None:
    """Let the C library keep up to `MOST`, where it is glibc; others have no such option."""
    from ctypes import CDLL  # slow to import, and few programs have large arrays

    try:
        set_option = CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    set_option(_TRIM_THRESHOLD, MOST)
    # Setting one ends that glibc adjusts the other. This is the most that it allows: larger blocks
    # go back to the system at once, each by itself.
    set_option(_MMAP_THRESHOLD, 2 * LARGEST_BLOCK)
