"""Limit of open files, and so of connections, of this process."""

import resource
from typing import Final

OPEN_FILES: Final = 16_384


def allow_open_files() -> None:
    """Raise the limit, which shells often set to 1024, to OPEN_FILES or as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
