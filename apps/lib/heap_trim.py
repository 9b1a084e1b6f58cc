"""Gives memory back to the kernel: for processes that live for weeks and hold something large for a moment, such as a mail of 25 MiB.

The C library (glibc) keeps freed blocks below a threshold that grows with the largest block ever freed, so one large mail decides how
much a process holds from then on. With a fixed threshold (mallopt(3)) large blocks go back at once; `trim` gives back the rest. Elsewhere
than on glibc both do nothing.
"""

import ctypes
from contextlib import suppress
from typing import Final

MMAP_THRESHOLD: Final = -3  # M_MMAP_THRESHOLD of malloc.h
BLOCK: Final = 256 << 10  # octets from which a block is one of its own


def return_large_blocks() -> None:
    """From now on blocks of BLOCK and more go back to the kernel when they are freed. Once for a process; twice is harmless."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, BLOCK)


def trim() -> None:
    """Give back what is free; takes some milliseconds, so only after something large (malloc_trim(3))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
