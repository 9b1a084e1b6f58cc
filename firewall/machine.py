"""Messages that describe a gateway's machine: its versions, its clock and its interfaces, before the portal knows any of them.

They are part of the messages of firewall/wire.py. The agent only reads; no rule is touched.
"""

from dataclasses import dataclass
from typing import Annotated

from firewall.policy import Address

MOST_INTERFACES = 256
MOST_ADDRESSES = 64  # of one interface


@dataclass(frozen=True, slots=True)
class Describe:
    """Ask for the machine's facts."""


@dataclass(frozen=True, slots=True)
class InterfaceAddress:
    """An address of an interface, with the length of its network's prefix."""

    address: Address
    length: Annotated[int, range(129)]


@dataclass(frozen=True, slots=True)
class MachineInterface:
    """A network interface. is_up: it is switched on and has a carrier. mac: "" where it has none.

    kind: what the kernel calls a virtual interface ("vlan", "bridge", "veth"), "" for others. addresses: without link-local ones.
    default4, default6: the main table has a default route over it.
    """

    name: str
    is_up: bool
    mac: str
    kind: str
    addresses: tuple[InterfaceAddress, ...]
    default4: bool
    default6: bool


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """Answer to Describe. name, agent: as in Welcome. system: such as "Debian GNU/Linux 13 (trixie)". nft: version of libnftables.

    clock: the machine's own Unix time in milliseconds, whatever the agent counts with. interfaces: without loopback, at most
    MOST_INTERFACES; more: how many there are besides.
    """

    name: str
    agent: str
    system: str
    kernel: str
    nft: str
    forwards4: bool
    forwards6: bool
    clock: Annotated[int, range(1 << 63)]
    interfaces: tuple[MachineInterface, ...]
    more: Annotated[int, range(1 << 31)] = 0
