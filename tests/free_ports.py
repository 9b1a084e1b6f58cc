"""Finds ports of 127.0.0.1 for servers of tests, which bind them only seconds later."""

import os
from collections.abc import Iterator
from typing import Final

from portal.stack.ports import is_free

FIRST: Final = 20_000
PER_WORKER: Final = 1_000
WORKERS: Final = 12
"""All ports lie below 32768, where the kernel's ephemeral ones begin: any connection may get one of those in between."""


def find_free_port() -> int:
    """Return a port that nobody uses now, that this process has not returned before, and that no other worker of pytest-xdist returns."""
    for port in _CANDIDATES:
        if is_free(port):
            return port
    raise AssertionError(f"all {PER_WORKER} ports of this worker were given away")


def _list_candidates() -> Iterator[int]:
    """List each port of this worker once. Other runs of tests on this machine begin elsewhere in the same range."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first, begin = FIRST + number % WORKERS * PER_WORKER, os.getpid()
    yield from (first + (begin + each) % PER_WORKER for each in range(PER_WORKER))


_CANDIDATES: Final = _list_candidates()
