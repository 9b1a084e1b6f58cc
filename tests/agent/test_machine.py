"""Facts of the machine: what each gateway tells before the portal knows any of its interfaces."""

import subprocess
import time
from ipaddress import ip_address
from pathlib import Path

import pytest

from firewall.machine import Describe, InterfaceAddress, MachineFacts, MachineInterface
from firewall.ruleset import EMPTY
from gateway import memory_table
from gateway.release import compute_version
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, OnKernel, Served
from tests.agent.requests import runs
from tests.agent.rulesets import text_of


def describe(gateway: AnyGateway) -> MachineFacts:
    answer = gateway.ask(Describe())
    assert isinstance(answer, MachineFacts), answer
    return answer


def write_forwarding(gateway: OnKernel | Served, forwards: bool) -> None:
    """Switch forwarding of IPv4 in the gateway's namespace."""
    write = ["sh", "-c", f"echo {int(forwards)} > /proc/sys/net/ipv4/ip_forward"]
    if isinstance(gateway, Served):
        subprocess.run(["ip", "netns", "exec", gateway.space, *write], check=True)
    else:
        gateway.space.do(subprocess.run, write, check=True)


def run_ip(gateway: OnKernel | Served, *commands: str) -> None:
    """Run ip in the gateway's namespace."""
    for command in commands:
        if isinstance(gateway, Served):
            subprocess.run(["ip", "-n", gateway.space, *command.split()], check=True)
        else:
            gateway.space.do(subprocess.run, ["ip", *command.split()], check=True)


def test_every_gateway_says_what_it_is_and_changes_nothing(gateway: AnyGateway) -> None:
    facts = describe(gateway)
    assert (facts.name, facts.agent, facts.more) == ("gw1", compute_version(), 0)
    assert facts.kernel
    assert abs(facts.clock / 1000 - time.time()) < 60
    assert runs(gateway) == text_of(EMPTY)


@restrict_to_gateways("in memory", "served")
def test_a_gateway_in_memory_makes_its_interfaces_up(gateway: AnyGateway) -> None:
    facts = describe(gateway)
    assert facts.interfaces == memory_table.INTERFACES
    assert facts.nft == ""
    assert facts.forwards4


@restrict_to_gateways("kernel", "served on the kernel")
def test_a_machine_without_interfaces_has_none(gateway: OnKernel | Served) -> None:
    assert [each.name for each in describe(gateway).interfaces if each.kind not in ("sit", "ipip", "gre", "ip6tnl", "vti", "vti6")] == []
    assert describe(gateway).nft.split(".")[0].isdigit()


@restrict_to_gateways("kernel", "served on the kernel")
def test_a_machine_reports_its_interfaces_as_they_are(gateway: OnKernel | Served) -> None:
    run_ip(
        gateway,
        "link add wan0 address 02:00:00:00:00:0a type veth peer name far0",
        "addr add 192.0.2.2/24 dev wan0",
        "addr add 2001:db8::2/64 dev wan0 nodad",
        "link set wan0 up",
        "link set far0 up",
        "link add name br7 address 02:00:00:00:00:0b type bridge",
        "route add default via 192.0.2.1",
        "route add default nexthop via 2001:db8::1 dev wan0 nexthop via 2001:db8::3 dev wan0",
        "route add default via 192.0.2.3 table 77",
    )
    found = {each.name: each for each in describe(gateway).interfaces}
    addresses = (InterfaceAddress(ip_address("192.0.2.2"), 24), InterfaceAddress(ip_address("2001:db8::2"), 64))
    assert found["wan0"] == MachineInterface("wan0", True, "02:00:00:00:00:0a", "veth", addresses, True, True)
    assert found["br7"] == MachineInterface("br7", False, "02:00:00:00:00:0b", "bridge", (), False, False)
    assert not found["far0"].default4


@restrict_to_gateways("kernel", "served on the kernel")
def test_a_machine_says_whether_it_forwards(gateway: OnKernel | Served) -> None:
    for forwards in (False, True):  # a new namespace forwards IPv4 if this machine does
        write_forwarding(gateway, forwards)
        assert (describe(gateway).forwards4, describe(gateway).forwards6) == (forwards, False)


@pytest.mark.skipif(not Path("/etc/os-release").exists(), reason="this machine has no /etc/os-release")
@restrict_to_gateways("in memory")
def test_it_says_which_system_runs(gateway: AnyGateway) -> None:
    assert describe(gateway).system in Path("/etc/os-release").read_text()
