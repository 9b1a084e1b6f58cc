"""The lab's network as people would enter it into an empty portal: facts about its gateways, and connections through each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab import sshd as lab_sshd
from lab.lab import Lab
from tests.whole.system import reaches

PORT = 8443  # leads to the web server on a member's host
POOLS: tuple[tuple[str, str, str, dict[str, int]], ...] = (  # name, kind, prefix, and what differs from the defaults
    ("Members", "private4", "10.16.0.0/12", {"kept_first": 2}),
    ("Public", "public4", "198.51.100.0/24", {}),
    ("IPv6", "prefix6", "2001:db8:a0::/44", {"member_length": 64}),
)
PROBE_TARGETS: dict[str, Any] = {"probe_target4": "203.0.113.10", "probe_target6": "2001:db8:cafe::10", "probe_port": 80}
PROBES = {  # fields of the page of a gateway
    f"nat-{number}": {
        "Probe interface": "probe0",
        "Private IPv4 address of the probe": f"172.31.254.{4 * number - 2}",
        "Public IPv4 address of the probe": f"192.0.2.{250 + number}",
        "IPv6 address of the probe": f"2001:db8:b{number}::2",
    }
    for number in (1, 2)
}
ROUTES = {"nat-1": ("10.0.0.1", "192.0.2.3"), "nat-2": ("10.0.0.2", "192.0.2.4")}  # its addresses inside and outside


@dataclass(frozen=True)
class LabMember:
    """A member host of the lab, with the person who uses it."""

    node: str
    name: str
    address: str
    prefix: str
    public: str


MEMBERS = (
    LabMember("m1", "Selin Kaya", "10.16.0.10", "2001:db8:a0:10::/64", "198.51.100.7"),
    LabMember("m2", "Jonas Brandt", "10.16.0.11", "2001:db8:a0:11::/64", "198.51.100.8"),
)


def describe_gateway(name: str, sockets: Path) -> dict[str, Any]:
    """Return what a person enters of this gateway, in the words of the API; each is primary for one address family."""
    number = int(name[-1])
    return {
        "name": name,
        "address": f"172.31.0.1{number}",
        "host_key": lab_sshd.ensure_host_key(sockets / f"{name}.sshd"),
        "lan": "lan0",
        "wan": "wan0",
        "management": "mgmt0",
        "sync": "sync0",
        "management_networks": ["172.31.0.0/24"],
        "carries4": number == 1,
        "carries6": number == 2,
        "probe_interface": "probe0",
        "probe_source4": f"172.31.254.{4 * number - 2}",
        "probe_public4": f"192.0.2.{250 + number}",
        "probe_source6": f"2001:db8:b{number}::2",
    }


def lead_traffic_through(lab: Lab, gateway: str) -> None:
    """Route the members' traffic, and that to their public addresses, through this gateway, as keepalived would."""
    inside, outside = ROUTES[gateway]
    for node in (each.node for each in MEMBERS):
        lab.run(node, ["ip", "route", "replace", "default", "via", inside])
    lab.run("uplink", ["ip", "route", "replace", "198.51.100.0/24", "via", outside])


def list_reached_members(lab: Lab, gateway: str, members: Sequence[LabMember] = MEMBERS) -> list[str]:
    """Connect from the internet to each member's forward through the gateway, and from the member out; return those who did both."""
    lead_traffic_through(lab, gateway)
    answered = [each for each in members if reaches(lab, "internet", each.public, PORT)]
    return [each.name for each in answered if reaches(lab, each.node, "203.0.113.10", 80)]
