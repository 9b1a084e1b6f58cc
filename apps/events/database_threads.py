"""Thread pools for database queries, so that a slow database does not stop any stream."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections, connections


class DatabaseThreads:
    """Pool of at most `most` threads; further calls wait for their turn."""

    def __init__(self, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def run[T](self, work: Callable[..., T], *given: Any) -> T:
        """Call a function in a thread, and return or raise what it does. Its database connection is closed, or returned to the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, _run_with_connection, work, given)

    def close(self) -> None:
        """Accept no new calls, without waiting for running ones."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _run_with_connection[T](work: Callable[..., T], given: tuple[Any, ...]) -> T:
    close_old_connections()
    try:
        return work(*given)
    finally:
        connections.close_all()
