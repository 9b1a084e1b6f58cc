"""Guarded services on a real kernel: a flood of SYNs does not reach the server, and clients do, with all TCP options."""

import socket
import struct
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from apps.bans.listeners.services import add_listener, remove_listener
from apps.bans.models import Ban, BanList, Listener
from apps.deployments.services import reconcile
from lab.card import switch_checksum_offload_on
from lab.datagram import compute_checksum
from lab.lab import Lab
from tests import factories
from tests.whole.packets import watching
from tests.whole.system import INTERNET, conversation, inside, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]
WEB, WEB6 = "192.0.2.40", "2001:db8:5e::80"
INTERNET6 = "2001:db8:cafe::10"
GATEWAY = {4: "nat-1", 6: "nat-2"}
FLOOD = 3000
PATIENCE = 10.0  # a server that sends first is delayed by a second (docs/adr/0015-guarded-services.md)
FORGED = bytes((198, 18))
SERVERS_SCALE = 7  # for a receive buffer of 6 MiB, as most servers have


@pytest.fixture
def guarded_network(lab: Lab, network: factories.Network) -> Iterator[factories.Network]:
    """The network with servers; TCP 443 of the web server is guarded over IPv4 and IPv6."""
    factories.servers(network)
    with inside(lab, "web"):
        Path("/proc/sys/net/ipv4/tcp_rmem").write_text("4096 131072 6291456")
    for address in (WEB, WEB6):
        guard(network, address)
    reconcile(network.group)
    yield network


def guard(network: factories.Network, address: str, port: int = 443) -> Listener:
    return add_listener(
        group=network.group,
        name="web",
        address=ip_address(address),
        protocol="tcp",
        port=port,
        guarded=True,
        window_scale=SERVERS_SCALE,
        by=network.admin,
    )


def syn(source: bytes, target: str, port: int, mark: int) -> bytes:
    """Return a SYN over IPv4 with any source address."""
    to = ip_address(target).packed
    bare = struct.pack("!HHIIBBHHH", 1024 + mark, port, mark, 0, 5 << 4, 2, 65535, 0, 0)
    total = compute_checksum(source + to + struct.pack("!HH", 6, len(bare)) + bare)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0, 64, 6, 0, source, to)
    return header + bare[:16] + struct.pack("!H", total) + bare[18:]


def flood(lab: Lab, target: str, port: int) -> None:
    """Send SYNs, each from another address.

    Replies are routed into a blackhole, or the lab would resolve thousands of neighbours.
    """
    lab.run("uplink", ["ip", "route", "replace", "blackhole", "198.18.0.0/15"])
    with inside(lab, "internet"), socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as raw:
        for each in range(FLOOD):
            raw.sendto(syn(FORGED + each.to_bytes(2), target, port, each), (target, 0))


def list_tracked(lab: Lab, gateway: str, address: str) -> list[str]:
    """Return the tracked connections of the gateway with this address."""
    listed = lab.run(gateway, ["conntrack", "-L", "-f", "ipv6" if ":" in address else "ipv4"]).stdout
    return [line for line in listed.splitlines() if f"={address} " in line]


def socket_of(lab: Lab, node: str, end: str) -> str:
    """Return ss's output about the node's connection with port 443 at this end."""
    return lab.run(node, ["ss", "-tioHn", "state", "established", end, "=", ":443"]).stdout


def enable_checksums(lab: Lab, *nodes: str) -> None:
    """Let network cards verify checksums from these nodes. Otherwise the kernel drops IPv6 SYNs (docs/adr/0015-guarded-services.md)."""
    for node in nodes:
        with inside(lab, node):
            assert all(switch_checksum_offload_on(name) for _index, name in socket.if_nameindex() if name != "lo")


def test_clients_reach_a_guarded_server_with_sack_and_window_scale_and_are_tracked(lab: Lab, guarded_network: factories.Network) -> None:
    enable_checksums(lab, "internet", "uplink", "m1", "core")
    for address, source in ((WEB, INTERNET), (WEB6, INTERNET6)):
        with conversation(lab, "internet", address, 443) as goes_on:
            assert goes_on()
            client, server = socket_of(lab, "internet", "dport"), socket_of(lab, "web", "sport")
            for seen in (client, server):
                assert " sack " in seen and " ts " in seen, seen
            assert f" wscale:{SERVERS_SCALE}," in client, client
            assert f",{SERVERS_SCALE} " in server.partition(" wscale:")[2], server
            assert source in server
            assert len(list_tracked(lab, GATEWAY[ip_address(address).version], address)) == 1
        assert lab.connect("m1", "tcp", address, 443, timeout=PATIENCE).node == "web"


def count_answered(lab: Lab, gateway: str) -> int:
    """Return the number of SYNs that the gateway answered on a server's behalf."""
    with inside(lab, gateway):
        _head, *cpus = Path("/proc/thread-self/net/stat/synproxy").read_text().splitlines()
    return sum(int(line.split()[1], 16) for line in cpus)


def test_a_flood_of_syns_reaches_no_server_while_clients_come_and_stay_and_bans_hold(lab: Lab, guarded_network: factories.Network) -> None:
    with conversation(lab, "internet", WEB, 443) as goes_on, watching(lab, "web", 4999) as until:
        before = count_answered(lab, "nat-1")
        flood(lab, WEB, 443)
        assert goes_on()
        arrived = [each for each in until(b"still there?") if each.packet[12:14] == FORGED]
        assert not arrived
        assert count_answered(lab, "nat-1") >= before + FLOOD
        assert lab.connect("internet", "tcp", WEB, 443, timeout=PATIENCE).node == "web"
        assert len(list_tracked(lab, "nat-1", WEB)) < 10
        add = guard(guarded_network, WEB, 80)
        reconcile(guarded_network.group)
        assert goes_on()
        assert lab.connect("internet", "tcp", WEB, 80, timeout=PATIENCE).node == "web"
        remove_listener(listener=add, by=guarded_network.admin)
        reconcile(guarded_network.group)
        assert goes_on()
    assert reaches(lab, "internet", WEB, 80) is None
    assert lab.connect("internet", "tcp", WEB, 443, timeout=PATIENCE, source="203.0.113.66").node == "web"
    Ban.objects.create(list=BanList.objects.create(name="Own"), prefix="203.0.113.66")
    reconcile(guarded_network.group)
    assert reaches(lab, "internet", WEB, 443, source="203.0.113.66") is None
    with inside(lab, "nat-1"):  # with tcp_loose, a client's ACK is new and not invalid
        Path("/proc/sys/net/netfilter/nf_conntrack_tcp_loose").write_text("1")
    assert lab.connect("m1", "tcp", WEB, 443, timeout=PATIENCE).node == "web"
    with conversation(lab, "internet", WEB, 443) as goes_on:
        assert goes_on()
        for each in Listener.objects.all():
            remove_listener(listener=each, by=guarded_network.admin)
        reconcile(guarded_network.group)
        wait_for(lambda: not list_tracked(lab, "nat-1", WEB))
    assert "guard4" not in lab.run("nat-1", ["nft", "list", "table", "inet", "netzwart"]).stdout
