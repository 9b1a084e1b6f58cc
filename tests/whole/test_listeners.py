"""The network's own servers on a real kernel: reachable for all, never tracked, while no other untracked packet passes."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import pytest

from apps.bans.blocks.services import block_member
from apps.bans.listeners.services import add_listener, remove_listener
from apps.bans.models import Ban, BanList, Block, Listener
from apps.deployments.services import reconcile
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]
WEB, WEB6, OTHER = "192.0.2.40", "2001:db8:5e::80", "192.0.2.41"
GATEWAY = {4: "nat-1", 6: "nat-2"}
SEND = """
import socket, sys
server = socket.create_server((sys.argv[1], 443), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
print("ready", flush=True)
connection, _ = server.accept()
connection.sendall(bytes(200_000))
connection.close()
"""
RECEIVE = """
import socket, sys
with socket.create_connection((sys.argv[1], 443), timeout=5) as connection:
    total = 0
    while some := connection.recv(65536):
        total += len(some)
print(total)
"""


def listen(network: factories.Network, address: str, port: int = 443, protocol: str = "tcp") -> Listener:
    return add_listener(group=network.group, name="web", address=ip_address(address), protocol=protocol, port=port, by=network.admin)


def guard(network: factories.Network, address: str) -> Listener:
    """Let TCP 443 of a server listen, guarded."""
    of, server = network.group, ip_address(address)
    return add_listener(group=of, name="guarded", address=server, protocol="tcp", port=443, guarded=True, window_scale=7, by=network.admin)


@pytest.fixture
def serving(lab: Lab, network: factories.Network) -> Iterator[factories.Network]:
    """The network with servers; TCP 443 and UDP 53 of the web server are listeners."""
    factories.servers(network)
    for address in (WEB, WEB6):
        listen(network, address)
        listen(network, address, 53, "udp")
    reconcile(network.group)
    yield network


def list_tracked(lab: Lab, gateway: str, address: str) -> list[str]:
    """Return the tracked connections of the gateway with this address."""
    listed = lab.run(gateway, ["conntrack", "-L", "-f", "ipv6" if ":" in address else "ipv4"]).stdout
    return [line for line in listed.splitlines() if f"={address} " in line]


@pytest.mark.parametrize(("address", "version"), [(WEB, 4), (WEB6, 6)])
@pytest.mark.parametrize(("protocol", "port"), [("tcp", 443), ("udp", 53)])
def test_internet_and_members_reach_a_listener_and_nobody_tracks_it(
    lab: Lab, serving: factories.Network, address: str, version: int, protocol: str, port: int
) -> None:
    sources = {"internet": INTERNET, "m1": "10.16.0.10"} if version == 4 else {"internet": "2001:db8:cafe::10", "m1": "2001:db8:a0:10::10"}
    for node, source in sources.items():
        answer = lab.connect(node, protocol, address, port)
        assert (answer.node, answer.peer_address) == ("web", source)
    assert list_tracked(lab, GATEWAY[version], address) == []


def test_other_ports_and_hosts_of_servers_are_closed_to_the_internet_and_open_to_members(lab: Lab, serving: factories.Network) -> None:
    for address, port in ((WEB, 80), (OTHER, 443), (WEB6, 80)):
        assert reaches(lab, "internet", address, port) is None
    assert lab.connect("m1", "tcp", OTHER, 443).node == "web"
    assert lab.connect("web", "tcp", INTERNET, 80).peer_address == WEB
    assert list_tracked(lab, "nat-1", OTHER)


def count_octets(lab: Lab, name: str) -> int:
    """Return the octets that this set of the gateway for IPv4 has counted for m1's address."""
    listed = json.loads(lab.run("nat-1", ["nft", "-j", "list", "set", "inet", "netzwart", name]).stdout)["nftables"]
    elements = [element["elem"] for each in listed if "set" in each for element in each["set"]["elem"]]
    return next(int(each["counter"]["bytes"]) for each in elements if each["val"] == "10.16.0.10")


def test_what_a_member_exchanges_with_a_listener_is_not_counted_and_with_a_guarded_or_another_port_it_is(
    lab: Lab, serving: factories.Network
) -> None:
    guard(serving, OTHER)
    reconcile(serving.group)
    counted = {}
    for address, port in ((WEB, 443), (OTHER, 443), (OTHER, 80)):
        before = [count_octets(lab, name) for name in ("up4", "down4")]
        assert lab.connect("m1", "tcp", address, port, timeout=10).node == "web"
        counted[address, port] = [count_octets(lab, name) > octets for name, octets in zip(("up4", "down4"), before, strict=True)]
    assert counted == {(WEB, 443): [False, False], (OTHER, 443): [True, True], (OTHER, 80): [True, True]}


@pytest.mark.parametrize(("address", "version"), [(WEB, 4), (WEB6, 6)])
def test_a_server_learns_of_a_smaller_path_to_the_internet(lab: Lab, serving: factories.Network, address: str, version: int) -> None:
    lab.run("uplink", ["ip", "link", "set", "world0", "mtu", "1300"])
    try:
        with lab.popen("web", [sys.executable, "-c", SEND, address], stdout=-1) as sender:
            assert sender.stdout
            assert sender.stdout.readline() == "ready\n"
            assert lab.run("internet", [sys.executable, "-c", RECEIVE, address]).stdout == "200000\n"
        target = INTERNET if version == 4 else "2001:db8:cafe::10"
        assert "mtu 1300" in lab.run("web", ["ip", "route", "get", target]).stdout
        assert list_tracked(lab, GATEWAY[version], address) == []
    finally:
        lab.run("uplink", ["ip", "link", "set", "world0", "mtu", "1500"])


def test_a_banned_source_does_not_reach_a_listener(lab: Lab, serving: factories.Network) -> None:
    must_reach(lab, "internet", WEB, 443, source="203.0.113.66")
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.66")
    reconcile(serving.group)
    assert reaches(lab, "internet", WEB, 443, source="203.0.113.66") is None
    must_reach(lab, "internet", WEB, 443)


def test_a_blocked_member_reaches_only_listeners_that_stay_reachable(lab: Lab, serving: factories.Network) -> None:
    must_reach(lab, "m1", WEB, 53, "udp")
    made: Block = block_member(member=serving.residents["m1"].member, reason="rules", by=serving.admin)
    reconcile(serving.group)
    assert made.pk
    assert reaches(lab, "m1", WEB, 53, "udp") is None
    must_reach(lab, "m1", WEB, 443)


def test_a_source_that_nobody_holds_does_not_reach_a_listener_either(lab: Lab, serving: factories.Network) -> None:
    lab.run("m1", ["ip", "address", "add", "10.16.9.9/12", "dev", "eth0"])
    must_reach(lab, "m1", WEB, 443, source="10.16.0.10")
    assert reaches(lab, "m1", WEB, 443, source="10.16.9.9") is None


@contextmanager
def leave_untracked(lab: Lab, gateway: str, what: str) -> Iterator[None]:
    """Load another table that leaves these packets untracked."""
    hook = "{ type filter hook prerouting priority -350; " + what + " notrack; }"
    lab.run(gateway, ["nft", f"table inet look {{ chain pre {hook}; }}"])
    try:
        yield
    finally:
        lab.run(gateway, ["nft", "delete table inet look"])


def count_dropped(lab: Lab, gateway: str) -> int:
    """Return the number of packets that the gateway dropped because they were untracked."""
    listed = lab.run(gateway, ["nft", "list", "counter", "inet", "netzwart", "untracked"]).stdout
    return int(listed.partition("packets ")[2].split()[0])


def test_nothing_else_that_is_untracked_passes(lab: Lab, serving: factories.Network) -> None:
    with leave_untracked(lab, "nat-1", "th dport { 81, 444 }"):
        before = count_dropped(lab, "nat-1")
        assert reaches(lab, "m1", INTERNET, 81) is None
        assert reaches(lab, "internet", WEB, 444) is None
        assert reaches(lab, "internet", OTHER, 444, "udp") is None
        assert count_dropped(lab, "nat-1") >= before + 3
    must_reach(lab, "m1", INTERNET, 81)


def test_a_listener_that_is_removed_is_closed_to_the_internet(lab: Lab, serving: factories.Network) -> None:
    must_reach(lab, "internet", WEB, 443)
    for each in Listener.objects.all():
        remove_listener(listener=each, by=serving.admin)
    reconcile(serving.group)
    assert reaches(lab, "internet", WEB, 443) is None
    assert "listener4" not in lab.run("nat-1", ["nft", "list", "table", "inet", "netzwart"]).stdout
    wait_for(lambda: reaches(lab, "m1", WEB, 443))
