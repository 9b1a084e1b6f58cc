"""Lets the demo's gateways stand in for each other, with keepalived and conntrackd as on real ones.

The seed writes the files of each gateway, and they mark its demo network: without them, the gateways have no failover.
"""

from lab import failover, failover_service
from lab.register import LabRegisterEntry
from portal.stack import commands
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

MADE_WITHOUT = "the demo network was made without failover"
MEMBER = "m1"  # the lab's node that looks for carriers
AWAIT_CARRIERS = 'until ping -q -c 1 -W 1 "$0" && ping -q -c 1 -W 1 "$1"; do sleep 0.5; done'


def find_obstacle(places: StatePaths, no_lab: str) -> str:
    """Return why the gateways do not stand in for each other; "" if they do."""
    if places.demo.exists() and not has_failover_files(places):
        return MADE_WITHOUT
    return no_lab or failover.find_obstacle()


def has_failover_files(places: StatePaths) -> bool:
    return all((places.failover / name / "keepalived.conf").exists() for name in commands.GATEWAYS)


def build_program(places: StatePaths, name: str) -> Program:
    """Return the program that runs conntrackd and keepalived in the gateway's node."""
    command = failover_service.build_command(name, places.failover / name)
    return Program(f"vrrp {name}", commands.build_node_command(places, name, command))


def build_await_carriers(places: StatePaths) -> Program:
    """Return the program that ends when each family's virtual address answers to a member."""
    command = ("sh", "-c", AWAIT_CARRIERS, failover.INSIDE[4], f"{failover.INSIDE[6]}%eth0")
    return Program("carriers", commands.build_node_command(places, MEMBER, command), hush=".*")


def route_lab_to_virtual_addresses(places: StatePaths) -> None:
    """Lead members, the network's servers and the uplink to whoever carries a family, instead of to one gateway."""
    lab = LabRegisterEntry(places.lab, places.lab_name).find()
    if lab:
        failover.route_to_virtual_addresses(lab)
        failover.route_servers_to_virtual_addresses(lab)
