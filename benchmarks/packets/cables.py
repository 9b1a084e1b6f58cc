"""Members, a gateway and the internet in three network namespaces, with raw frames in at one end and out at the other.

The namespaces belong to threads and end with them. The kernel handles each frame in the sender's own context, up to the far end
of the second cable, so the sender's CPU time is the cost of a packet.
"""

import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROUTER, UPLINK = "10.254.0.1", "192.0.2.1"
MEMBERS_MAC, LAN_MAC, WAN_MAC, INTERNET_MAC = (f"02:00:00:00:00:0{n}" for n in range(1, 5))
SETTINGS = {"ipv4/ip_forward": "1", "ipv4/conf/all/rp_filter": "0", "ipv4/conf/default/rp_filter": "0", "ipv4/conf/all/send_redirects": "0"}
DEAD_END = "table netdev dead_end {{ chain thrown_away {{ type filter hook ingress device {} priority 0; policy drop; }}; }}"


class NamespaceThread:
    """A thread in its own network namespace, on one CPU."""

    def __init__(self, cpu: int) -> None:
        self._thread = ThreadPoolExecutor(1)
        self.do(os.unshare, os.CLONE_NEWNET)
        self.do(os.sched_setaffinity, 0, {cpu})
        self.id = self.do(threading.get_native_id)

    def do[**P, T](self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call it in the thread."""
        return self._thread.submit(call, *args, **kwargs).result()

    def run(self, *command: str, given: str = "") -> None:
        """Run a program in the namespace."""
        self.do(lambda: subprocess.run(command, input=given, text=True, check=True, stdout=subprocess.DEVNULL))

    def close(self) -> None:
        self._thread.shutdown()


class Cables:
    """members -m0:lan0- gateway -wan0:i0- internet. Packets that arrive at m0 and i0 are counted and dropped."""

    def __init__(self) -> None:
        cpu = max(os.sched_getaffinity(0))
        self.members, self.gateway, self.internet = NamespaceThread(cpu), NamespaceThread(cpu), NamespaceThread(cpu)
        for space in (self.members, self.internet):
            space.do(_write_settings, {"ipv6/conf/all/disable_ipv6": "1", "ipv6/conf/default/disable_ipv6": "1"})
        self.gateway.do(_write_settings, SETTINGS | {"ipv6/conf/default/disable_ipv6": "1"})
        self.gateway.run("ip", "-batch", "-", given=self._render_links())
        self.members.run("ip", "link", "set", "m0", "up")
        self.internet.run("ip", "link", "set", "i0", "up")
        self.gateway.run("ip", "-batch", "-", given=_render_network())
        self.members.run("nft", DEAD_END.format("m0"))
        self.internet.run("nft", DEAD_END.format("i0"))

    def _render_links(self) -> str:
        return (
            f"link add lan0 address {LAN_MAC} type veth peer name m0 address {MEMBERS_MAC} netns {self.members.id}\n"
            f"link add wan0 address {WAN_MAC} type veth peer name i0 address {INTERNET_MAC} netns {self.internet.id}\n"
            "link set lan0 up\nlink set wan0 up\n"
        )

    def count_outside(self) -> int:
        """Return the number of frames that have come out at the internet's end."""
        return self.internet.do(_count_received, "i0")

    def count_inside(self) -> int:
        """Return the number of frames that have come out at the members' end."""
        return self.members.do(_count_received, "m0")

    def close(self) -> None:
        """End the threads, and so the namespaces with everything in them."""
        for space in (self.members, self.gateway, self.internet):
            space.close()


def _count_received(card: str) -> int:
    """Read the count from /proc, which is that of the thread's own namespace; /sys is not."""
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    return next(int(line.split()[2]) for line in lines if line.strip().startswith(f"{card}:"))


def _render_network() -> str:
    return (
        f"addr add {ROUTER}/32 dev lan0\naddr add {UPLINK}/32 dev wan0\n"
        f"neigh add 10.254.0.2 lladdr {MEMBERS_MAC} nud permanent dev lan0\n"
        f"neigh add 192.0.2.2 lladdr {INTERNET_MAC} nud permanent dev wan0\n"
        "route add 10.0.0.0/8 via 10.254.0.2 dev lan0 onlink\nroute add default via 192.0.2.2 dev wan0 onlink\n"
    )


def _write_settings(settings: dict[str, str]) -> None:
    for name, value in settings.items():
        Path("/proc/sys/net", name).write_text(value)
