"""Faults of a gateway's addresses, routes and kernel settings, and of its traffic."""

import sys
from shlex import quote
from typing import Final

from tests.whole.faults.injected_fault import FORWARDING, InjectedFault, Traffic, cause_nothing, run_commands
from tests.whole.faults.scene import FaultScene
from tests.whole.faults.wordings import NOT_FORWARDED, say_no_packets
from tests.whole.test_health_faults import FAR4, FAR6, FLOOD, FULL_QUEUE


def send(node: str, line: str) -> Traffic:
    """Return traffic: a line of shell in the node, whatever comes of it."""

    def run(scene: FaultScene) -> None:
        scene.lab.run(node, ["sh", "-c", line], check=False)

    return run


KERNELS: Final = (
    InjectedFault(
        "default route of IPv4 deleted",
        run_commands("nat-1", "ip route del default", "ip route add default via 192.0.2.1"),
        (r"^nat-1 has no route to the internet\. No default route for IPv4: packets to the internet are refused\.",),
        FORWARDING,
    ),
    InjectedFault(
        "default route of IPv6 deleted",
        run_commands("nat-2", "ip -6 route del default", "ip -6 route add default via 2001:db8:fe::1"),
        (r"^nat-2 has no route to the internet\. No default route for IPv6: packets to the internet are refused\.",),
        FORWARDING,
    ),
    InjectedFault(
        "route to a part of the internet is a black hole",
        run_commands("nat-1", "ip route add blackhole 203.0.113.0/24", "ip route del blackhole 203.0.113.0/24"),
        (say_no_packets("nat-1", 4, NOT_FORWARDED),),
        FORWARDING,
    ),
    InjectedFault(
        "way back from the internet missing",
        run_commands("uplink", "ip route del 192.0.2.251/32", "ip route add 192.0.2.251/32 via 192.0.2.3"),
        (say_no_packets("nat-1", 4, r"Is 192\.0\.2\.251 routed to nat-1, and does the target answer others\?"),),
        FORWARDING,
    ),
    InjectedFault(
        "address towards the internet removed",
        run_commands(
            "nat-1", "ip addr del 192.0.2.3/28 dev wan0", "ip addr add 192.0.2.3/28 dev wan0 && ip route add default via 192.0.2.1"
        ),
        (r"^nat-1 has no route to the internet\. No default route for IPv4: packets to the internet are refused\.",),
        FORWARDING,
    ),
    InjectedFault(
        "address towards members removed",
        run_commands("nat-1", "ip addr del 10.0.0.1/11 dev lan0", "ip addr add 10.0.0.1/11 dev lan0"),
        (r"^nat-1 has no address towards members\. lan0 has no address for IPv4: members cannot reach their gateway\. 4 active members",),
        FORWARDING,
    ),
    InjectedFault(
        "packets of full size do not pass an interface",
        run_commands("nat-1", "ip link set wan0 mtu 1300", "ip link set wan0 mtu 1500"),
        (r"^Packets of full size do not pass nat-1\. .* passes at most 1300 octets\. Large transfers are slow .* Check the MTU of wan0",),
        FORWARDING,
    ),
    InjectedFault(
        "forwarding of IPv4 switched off",
        run_commands("nat-1", "sysctl -qw net.ipv4.ip_forward=0", "sysctl -qw net.ipv4.ip_forward=1"),
        (r"^nat-1 does not forward\. Forwarding of IPv4 is switched off in its kernel\. 4 active members are affected\.",),
        FORWARDING,
    ),
    InjectedFault(
        "forwarding of IPv6 switched off",
        run_commands("nat-2", "sysctl -qw net.ipv6.conf.all.forwarding=0", "sysctl -qw net.ipv6.conf.all.forwarding=1"),
        (r"^nat-2 does not forward\. Forwarding of IPv6 is switched off in its kernel\. 4 active members are affected\.",),
        FORWARDING,
    ),
    InjectedFault(
        "IPv4 packets run in circles",
        cause_nothing,
        (r"^Packets run in circles through nat-1\. Packets whose hop limit ends here: IPv4 [1-9][\d.]* /s, IPv6 0 /s\.",),
        traffic=send("m1", f"ping -q -i 0.002 -c 1000 -W 1 -t 1 {FAR4}"),
    ),
    InjectedFault(
        "IPv6 packets run in circles",
        cause_nothing,
        (r"^Packets run in circles through nat-2\. Packets whose hop limit ends here: IPv4 0 /s, IPv6 [1-9][\d.]* /s\.",),
        traffic=send("m1", f"ping -q -i 0.002 -c 1000 -W 1 -t 1 {FAR6}"),
    ),
    InjectedFault(
        "a member forges source addresses",
        run_commands("m1", "ip addr add 10.31.255.77/32 dev eth0", "ip addr del 10.31.255.77/32 dev eth0"),
        (r"^Many forged source addresses reach nat-1\. .* They are dropped\.",),
        traffic=send("m1", f"{sys.executable} -c {quote(FLOOD)} 10.31.255.77 {FAR4}"),
    ),
    InjectedFault(
        "a service of the gateway accepts no connection",
        run_commands("nat-1", "sysctl -qw net.ipv4.tcp_syncookies=1", "true"),
        (r"^A service on nat-1 cannot keep up with its connections\. Lost connections to the gateway itself: [1-9][\d.]* /s",),
        traffic=send("nat-1", f"{sys.executable} -c {quote(FULL_QUEUE)}"),
    ),
)
