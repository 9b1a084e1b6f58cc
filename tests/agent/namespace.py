"""A network namespace for tests: a thread that has left the host's namespace. It ends with the thread and its sockets.

Everything that touches nftables has to run through `do`: libnftables may open a new socket at any time, in the calling thread's
namespace.
"""

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import ParamSpec, TypeVar

PATIENCE = 60.0  # seconds until the kernel has activated a card

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

    def await_cards(self, *cards: str) -> None:
        """Return when these cards send: the kernel activates one only some time after its other end is up, and drops packets until then."""
        give_up = monotonic() + PATIENCE
        while not self.do(_list_active_cards) >= set(cards):
            assert monotonic() < give_up, f"not all of {cards} became active"

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _enter(name: str) -> None:
    if not name:
        os.unshare(os.CLONE_NEWNET)
        return
    with Path(f"/run/netns/{name}").open() as space:
        os.setns(space.fileno(), os.CLONE_NEWNET)


def _list_active_cards() -> set[str]:
    """Return the cards of this namespace whose operational state is UP (RFC 2863): it is set when the card is activated."""
    told = subprocess.run(["ip", "-json", "link"], check=True, capture_output=True).stdout
    return {each["ifname"] for each in json.loads(told) if each["operstate"] == "UP"}


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
