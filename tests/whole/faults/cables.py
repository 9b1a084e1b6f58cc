"""Faults of cables, and gateways that are dead. A cable is pulled at its far end: the gateway keeps its addresses and routes."""

from typing import Final

from tests.whole.faults.injected_fault import ANSWERING, FORWARDING, Cause, InjectedFault, cause_together, run_commands
from tests.whole.faults.wordings import SILENT, say_link_down, say_no_packets_anywhere
from tests.whole.system import GATEWAYS


def pull_cable(node: str, port: str) -> Cause:
    """Pull the cable at this port of the node."""
    return run_commands(node, f"ip link set {port} down", f"ip link set {port} up")


def pull_own_cable(node: str, interface: str, mend: str = "true") -> Cause:
    """Take down an interface that has addresses. mend: gives back the routes that go with it."""
    keep = f"sysctl -qw net.ipv6.conf.{interface}.keep_addr_on_down=1"
    return run_commands(node, f"{keep} && ip link set {interface} down", f"ip link set {interface} up && {mend}")


def kill_machine(name: str) -> Cause:
    """Let no packet of the gateway's machine pass, as if it had no power."""
    far_ends = (("uplink", "wan0"), ("core", "lan0"), ("core", "mgmt0"), ("core", "srv0"))
    return cause_together(*(pull_cable(node, f"{name}.{port}") for node, port in far_ends))


CABLES: Final = (
    InjectedFault(
        "IPv4 gateway: cable to the internet pulled", pull_cable("uplink", "nat-1.wan0"), (say_link_down("nat-1", "wan0"),), FORWARDING
    ),
    InjectedFault("IPv4 gateway: cable to members pulled", pull_cable("core", "nat-1.lan0"), (say_link_down("nat-1", "lan0"),), FORWARDING),
    InjectedFault("IPv6 gateway: cable to members pulled", pull_cable("core", "nat-2.lan0"), (say_link_down("nat-2", "lan0"),), FORWARDING),
    InjectedFault(
        "one gateway's cable to the internet and the other one's to members pulled",
        cause_together(pull_cable("uplink", "nat-1.wan0"), pull_cable("core", "nat-2.lan0")),
        (say_link_down("nat-1", "wan0"), say_link_down("nat-2", "lan0")),
        FORWARDING,
    ),
    InjectedFault(
        "cable between the gateways pulled",
        run_commands("nat-1", "ip link set sync0 down", "ip link set sync0 up"),
        tuple(rf"An interface of {name} is down\. sync0: no carrier\. .* they would end at a failover\." for name in GATEWAYS),
        (r"members are affected",),
    ),
    InjectedFault(
        "management cable of a gateway pulled",
        pull_cable("core", "nat-1.mgmt0"),
        (rf"{SILENT}\. .* It may still forward traffic",),
        ANSWERING,
    ),
    InjectedFault(
        "management cable of the portal pulled",
        pull_cable("core", "portal.eth0"),
        (r"^The portal reaches none of the gateways\. The cause is probably the portal’s own management network",),
        ANSWERING,
    ),
    InjectedFault(
        "cable of the uplink to the internet pulled",
        pull_own_cable("uplink", "world0"),
        tuple(map(say_no_packets_anywhere, (4, 6))),
        FORWARDING,
    ),
    InjectedFault(
        "cable of a gateway's probe pulled",
        pull_own_cable("probe-1", "eth0", "ip route add default via 172.31.254.1 && ip -6 route add default via 2001:db8:b1::1"),
        (r"^An interface of nat-1 is down\. probe0: no carrier\. Its probe cannot pass: whether packets of members do is not known\.",),
        (r"members are affected",),
    ),
    InjectedFault(
        "IPv4 gateway dead",
        kill_machine("nat-1"),
        (rf"{SILENT}\. .* It may still forward traffic",),
        FORWARDING + ANSWERING,
    ),
)
