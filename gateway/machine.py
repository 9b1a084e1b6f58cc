"""Facts of the machine for the portal: versions, forwarding, clock and interfaces. Reads; changes nothing."""

import platform
import time
from pathlib import Path

from firewall.machine import MOST_INTERFACES, MachineFacts
from gateway.release import compute_version
from gateway.table import NftTable

_FORWARDS4, _FORWARDS6 = "net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"
_LONGEST = 200  # characters of a text that the machine's files contain


def describe_machine(table: NftTable, name: str) -> MachineFacts:
    """Return the facts. Raises TableError."""
    interfaces, sysctls = table.list_interfaces(), table.read_sysctls()
    return MachineFacts(
        name=name,
        agent=compute_version(),
        system=_read_system(),
        kernel=platform.release(),
        nft=table.read_nft_version(),
        forwards4=sysctls.get(_FORWARDS4) == "1",
        forwards6=sysctls.get(_FORWARDS6) == "1",
        clock=time.time_ns() // 1_000_000,
        interfaces=tuple(interfaces[:MOST_INTERFACES]),
        more=len(interfaces[MOST_INTERFACES:]),
    )


def read_boot_id() -> str:
    """Return the kernel's random name of this boot (random(4))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _read_system() -> str:
    """Return the distribution's name and version; "" if the machine does not say."""
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "")[:_LONGEST]
    except OSError:
        return ""
