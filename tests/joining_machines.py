"""Joining machines for tests: rows as an examination leaves them, without a machine to examine."""

from ipaddress import ip_address
from typing import Any

from django.utils import timezone

from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.joining.models import JoiningMachine
from apps.network.models import GatewayGroup
from firewall.codec import encode
from firewall.machine import InterfaceAddress, MachineFacts, MachineInterface

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
PORTAL_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "B" * 43


def build_interface(name: str, *addresses: str, default: bool = False) -> MachineInterface:
    own = tuple(InterfaceAddress(ip_address(each.split("/")[0]), int(each.split("/")[1])) for each in addresses)
    return MachineInterface(name, True, "02:00:00:00:00:01", "", own, default, False)


INTERFACES = (
    build_interface("eno1", "10.16.0.3/12"),
    build_interface("eno2", "192.0.2.4/29", default=True),
    build_interface("eno3", "172.31.0.13/24"),
    build_interface("eno4"),
)


def build_facts(name: str = "nat-3", **changes: Any) -> dict[str, Any]:
    """Return facts as the row stores them."""
    given: dict[str, Any] = {
        "name": name,
        "agent": build_agent_package().version,
        "system": "Debian GNU/Linux 13 (trixie)",
        "kernel": "6.12.1",
    }
    given |= {"nft": "1.1.3", "forwards4": True, "forwards6": True, "clock": 1_800_000_000_000, "interfaces": INTERFACES}
    encoded: dict[str, Any] = encode(MachineFacts(**(given | changes)))
    return encoded


def make_machine(group: GatewayGroup, name: str = "nat-3", **changes: Any) -> JoiningMachine:
    """Create a machine that a worker has reached, and whose host key waits to be compared."""
    found = {"progress": "reached", "seen_key": KEY, "portal_key": PORTAL_KEY, "portal_address": ip_address("172.31.0.1")}
    where = {"address": ip_address("172.31.0.13"), "connect_ms": 1.1, "examined": timezone.now()}
    return JoiningMachine.objects.create(**({"group": group, "name": name} | where | found | changes))


def make_ready_machine(group: GatewayGroup, name: str = "nat-3", **changes: Any) -> JoiningMachine:
    """Create a machine whose agent has described it."""
    ready = {"progress": "ready", "host_key": KEY, "facts": build_facts(name), "clock_offset": 3, "clock_doubt": 5}
    return make_machine(group, name, **(ready | changes))
