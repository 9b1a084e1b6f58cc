"""Puts virtual machines in the place of a lab's gateway nodes."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from lab.lab import Lab
from lab.machines.image import ensure_image
from lab.machines.virtual_machine import EMULATED, HARDWARE, HOME, MachineError, VirtualMachine
from lab.topology import Node

SUITES: Final[Mapping[str, str]] = {"nat-1": "bookworm", "nat-2": "trixie"}
LEFT_OUT: Final = ("probe-1", "probe-2")  # cables to a probe: a machine's probe lives in a namespace of its own
PATIENCE: Final = 600.0  # seconds for a boot; emulated, it takes 30 to 60 s of an idle core


def replace_gateway_nodes(lab: Lab, directory: Path) -> list[VirtualMachine]:
    """Take the gateways' nodes off their switches, and return machines with fresh disks that may be switched on instead."""
    made = [prepare_machine(lab, name, directory) for name in SUITES]
    for machine in made:
        machine.install()
    _unplug_nodes(lab, made)
    return made


def prepare_machine(lab: Lab, name: str, directory: Path, *, prepared: bool = False) -> VirtualMachine:
    """Return the machine that stands in place of this node. prepared: with the packages that a gateway needs."""
    image = ensure_image(SUITES[name], directory / "images", prepared=prepared)
    node = _leave_out_probe(lab.topology.get_node(name))
    return VirtualMachine(lab, node, list(SUITES).index(name) + 1, image, directory / name)


def _leave_out_probe(node: Node) -> Node:
    cards = tuple(card for card in node.interfaces if card.network not in LEFT_OUT)
    return Node(node.name, node.role, cards, node.routes, node.forwards, node.answers)


def _unplug_nodes(lab: Lab, machines: Sequence[VirtualMachine]) -> None:
    for machine in machines:
        for card in lab.topology.get_node(machine.name).interfaces:
            lab.run(machine.name, ["ip", "link", "delete", card.name], check=False)  # a cable between two gateways goes once
    for network in lab.topology.networks:
        if network.bridge is None and sum(card.network == network.name for each in machines for card in each.node.interfaces) > 1:
            lab.run(HOME, ["ip", "link", "add", network.name, "up", "type", "bridge"])


def choose_accelerator(machine: VirtualMachine) -> tuple[str, ...]:
    """Return QEMU's options for hardware virtualisation if it really boots this machine, otherwise those for emulation."""
    if not Path("/dev/kvm").exists():
        return EMULATED
    machine.accelerator = HARDWARE
    try:
        machine.switch_on()
        wait_until_up([machine], patience=30)
    except MachineError:
        return EMULATED
    finally:
        machine.cut_power()
    return HARDWARE


def wait_until_up(machines: Sequence[VirtualMachine], *, patience: float = PATIENCE) -> None:
    """Return when each machine lets root in by ssh. Raise MachineError with the end of its console if one does not in time."""
    end = time.monotonic() + patience
    for machine in machines:
        while not _is_up(machine):
            if time.monotonic() > end:
                raise MachineError(
                    f"{machine.name} has not answered ssh within {patience:.0f} s. Its console ends with:\n{read_end(machine)}"
                )
            time.sleep(0.5)


def _is_up(machine: VirtualMachine) -> bool:
    try:
        return machine.is_up()
    except subprocess.TimeoutExpired:
        return False


def read_end(machine: VirtualMachine) -> str:
    """Return the last lines of the machine's console."""
    return "\n".join(machine.console.read_text(errors="replace").splitlines()[-20:])
