"""Destroys a node and builds it again: its namespace ends with everything in it, as when a machine loses power; the new one is
bare.

The node's cards keep their hardware addresses. The other ends of its cables, in other nodes, are built again as planned.
"""

import json
import subprocess
import sys
from contextlib import suppress
from os import kill
from signal import SIGKILL
from typing import TYPE_CHECKING

from lab import holder
from lab.enter import enter
from lab.process import ProcessRef

if TYPE_CHECKING:
    from lab.plan import LabPlan


def main() -> None:
    """Rebuild a node.

    Arguments: PID STARTED of the process that holds the lab. Standard input: the plan of the node first, then of its neighbours.
    """
    pid, started = sys.argv[1:]
    plan: LabPlan = json.loads(sys.stdin.read())
    enter(ProcessRef(int(pid), int(started)), lambda: rebuild(plan))


def rebuild(plan: "LabPlan") -> int:
    """Rebuild the plan's first node; return when its cards are up."""
    node = plan["nodes"][0]
    addresses = {device: _get_hardware_address(node["name"], device) for device in node["devices"]}
    _destroy(node["name"], node["devices"])
    holder.run(["ip", "-batch", "-"], plan["links"])
    for device, address in addresses.items():
        holder.run(["ip", "-n", node["name"], "link", "set", device, "address", address])
    holder.configure(plan)
    return 0


def _get_hardware_address(node: str, device: str) -> str:
    told = subprocess.run(["ip", "-j", "-n", node, "link", "show", device], capture_output=True, text=True, check=True)
    address: str = json.loads(told.stdout)[0]["address"]
    return address


def _destroy(node: str, devices: list[str]) -> None:
    """End the node's processes and delete its cables and its namespace.

    The cables are deleted explicitly: the kernel removes a namespace at some later time, and the cables have to end now.
    """
    for pid in subprocess.run(["ip", "netns", "pids", node], capture_output=True, text=True, check=True).stdout.split():
        with suppress(ProcessLookupError):
            kill(int(pid), SIGKILL)
    for device in devices:
        holder.run(["ip", "-n", node, "link", "del", device])
    holder.run(["ip", "netns", "del", node])
