"""Forwards of several ports and IPv6 pinholes, from a row to a packet, through real agents."""

from ipaddress import IPv6Address

import pytest

from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.lib.activation import list_activations
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.services import add_pinhole, remove_pinhole, replace_member_prefix
from apps.nat.services import add_forward, remove_forward
from lab.lab import Lab
from tests import factories
from tests.whole.system import conversation, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

HOST = "2001:db8:a0:10::10"


def deploy(network: factories.Network) -> Rollout:
    rollout = reconcile(network.group)
    assert rollout is not None
    assert rollout.state == Rollout.State.CONFIRMED
    return rollout


def pinhole(network: factories.Network) -> Pinhole:
    holding = network.residents["m1"].prefix
    return add_pinhole(holding=holding, address=IPv6Address(HOST), protocol="tcp", port=440, ports=10, by=network.admin)


def test_a_range_of_ports_leads_to_the_ports_behind_it_until_it_is_removed(lab: Lab, network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    given = {"public": factories.PUBLIC, "protocol": "udp", "public_port": 6000, "private_port": 16000, "ports": 10}
    forward = add_forward(holding=holding, by=network.admin, **given)  # type: ignore[arg-type]  # as the form gives them
    deploy(network)
    answers = [reaches(lab, "internet", str(factories.PUBLIC), port, "udp") for port in (6000, 6009)]
    assert [(each.node, each.port) for each in answers if each] == [("m1", 16000), ("m1", 16009)]
    assert reaches(lab, "internet", str(factories.PUBLIC), 6010, "udp") is None
    remove_forward(forward=forward, by=network.admin)
    assert deploy(network).revision.changes == [{"kind": "forwards", "added": 0, "removed": 10, "changed": 0, "of": 0}]
    assert reaches(lab, "internet", str(factories.PUBLIC), 6000, "udp") is None


def test_a_pinhole_lets_in_and_what_came_in_by_it_ends_with_it(lab: Lab, network: factories.Network) -> None:
    deploy(network)
    assert reaches(lab, "internet", HOST, 443) is None
    made = pinhole(network)
    rollout = deploy(network)
    assert all(step.evidence and step.confirmed for step in rollout.steps.all())
    [(_row, known)] = list_activations([made])
    assert all(each.since for each in known)
    with conversation(lab, "internet", HOST, 443) as goes_on:
        assert goes_on()
        remove_pinhole(pinhole=made, by=network.admin)
        deploy(network)
        assert not goes_on()
    assert reaches(lab, "internet", HOST, 443) is None


def test_pinholes_follow_a_member_to_another_prefix(lab: Lab, network: factories.Network) -> None:
    pinhole(network)
    deploy(network)
    new = replace_member_prefix(holding=network.residents["m1"].prefix, follow=True, by=network.admin)
    deploy(network)
    there = str(new.prefix.network_address + 0x10)
    lab.run("m1", ["ip", "-6", "address", "add", f"{there}/64", "dev", "eth0", "nodad"])
    for gateway in ("nat-1", "nat-2"):
        lab.run(gateway, ["ip", "-6", "route", "replace", str(new.prefix), "dev", "lan0"])
    answer = reaches(lab, "internet", there, 443)
    assert answer is not None
    assert answer.address == there
    assert reaches(lab, "internet", HOST, 443) is None
