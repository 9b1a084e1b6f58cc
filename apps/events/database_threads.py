"""What asks the database runs in a few threads, so that a slow database stops no stream."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import close_old_connections, connections


class Threads:
    """So many calls at once; the others wait for their turn."""

    def __init__(self, most: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)

    async def run[T](self, work: Callable[..., T], *given: Any) -> T:
        """What the function returns or raises. Its connection goes back to the pool of connections."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, _run_with_connection, work, given)

    def close(self) -> None:
        """Nothing new; what runs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _run_with_connection[T](work: Callable[..., T], given: tuple[Any, ...]) -> T:
    close_old_connections()
    try:
        return work(*given)
    finally:
        connections.close_all()
