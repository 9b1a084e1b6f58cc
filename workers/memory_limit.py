"""Bound on the memory of a process that imports what strangers publish: the kernel refuses what goes beyond it.

A refusal is a MemoryError in the one task that asked for more; its feed says that it failed, and the process lives on.
"""

import resource
from typing import Final

FEEDS: Final = 768 << 20  # octets; an import of a million lines takes 177 MiB of this


def bound_memory(octets: int) -> None:
    """Let this process have no more private memory than this (RLIMIT_DATA, setrlimit(2)); it cannot be raised again."""
    resource.setrlimit(resource.RLIMIT_DATA, (octets, octets))
