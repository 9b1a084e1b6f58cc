"""Returns memory to the kernel, for long-running processes that need much of it for a moment, such as for a mail of 25 MiB.

The C library (glibc) keeps freed blocks below a threshold that grows with the largest block ever freed, so one large mail
determines how much memory a process keeps from then on. With a fixed threshold (mallopt(3)) large blocks are returned at once;
`trim_heap` returns the rest. Without glibc, both functions do nothing.
"""

import ctypes
from contextlib import suppress
from typing import Final

MMAP_THRESHOLD: Final = -3  # M_MMAP_THRESHOLD of malloc.h
BLOCK: Final = 256 << 10  # octets; larger blocks are mapped separately


def return_large_blocks() -> None:
    """Make freed blocks of BLOCK octets and more return to the kernel from now on. Call it once per process; twice is harmless."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(MMAP_THRESHOLD, BLOCK)


def trim_heap() -> None:
    """Return free memory to the kernel (malloc_trim(3)). Takes some milliseconds, so call it only after large work."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
