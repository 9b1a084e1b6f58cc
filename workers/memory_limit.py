"""Memory limit of a process that imports data published by strangers: the kernel refuses allocations beyond it.

A refusal is a MemoryError in the one task that needs more memory: its feed is marked as failed, and the process lives on.
"""

import resource
from typing import Final

FEEDS: Final = 768 << 20  # octets; an import of a million lines takes 177 MiB of this


def bound_memory(octets: int) -> None:
    """Limit this process's private memory (RLIMIT_DATA, setrlimit(2)). The limit cannot be raised again."""
    resource.setrlimit(resource.RLIMIT_DATA, (octets, octets))
