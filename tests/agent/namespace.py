"""A network namespace for tests: a thread that has left the host's namespace. It ends with the thread and its sockets.

Everything that touches nftables has to run through `do`: libnftables may open a new socket at any time, in the calling thread's
namespace.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Namespace:
    """One thread in its own network namespace, or in a named one."""

    def __init__(self, name: str = "") -> None:
        self._thread = ThreadPoolExecutor(1)
        self.do(_enter, name)
        if self.do(Path("/proc/thread-self/ns/net").readlink) == Path("/proc/self/ns/net").readlink():
            raise RuntimeError("still in the host's network namespace")

    def do(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the function in the thread."""
        return self._thread.submit(function, *args, **kwargs).result()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _enter(name: str) -> None:
    if not name:
        os.unshare(os.CLONE_NEWNET)
        return
    with Path(f"/run/netns/{name}").open() as space:
        os.setns(space.fileno(), os.CLONE_NEWNET)


def why_not() -> str:
    """Return the reason why kernel tests cannot run here, "" if they can."""
    try:
        space = Namespace()
    except PermissionError:
        return "network namespaces need root"
    try:
        from gateway.kernel import KernelTable

        space.do(lambda: KernelTable().close())
    except Exception as error:
        return str(error)
    finally:
        space.close()
    return ""
