"""Limits on new and open connections, shown with packets."""

from contextlib import ExitStack
from ipaddress import ip_network
from typing import Any

import pytest

from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.gateways.group_settings import change_limits, get_limits
from apps.nat.services import add_forward
from firewall import wire
from lab.connect import Attempt, NoAnswerError
from lab.lab import Lab
from tests import factories
from tests.whole.packets import counter, send, watching
from tests.whole.system import INTERNET, conversation, inside, must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

INTERNET6 = "2001:db8:cafe::10"
FORWARD = ("198.51.100.7", 5000)
NONE: dict[str, Any] = {"member_rate": 0, "member_burst": 100, "member_open": 0, "source_rate": 0, "source_burst": 100, "source_open": 0}


def save_limits(
    network: factories.Network, *, exempt: tuple[str, ...] = (), refuses: bool = True, mail_rate: int = 0, **changes: int
) -> None:
    """Save these limits, and deploy them."""
    listed = [ip_network(each) for each in exempt]
    numbers = NONE | {"open_sampled": False, "mail_rate": mail_rate, "refuses": refuses} | changes
    change_limits(group=network.group, version=get_limits(network.group).version, exempt=listed, by=network.admin, **numbers)
    reconcile(network.group)


def gauges(network: factories.Network) -> dict[str, int]:
    """Return the number of elements in each dynamic set of nat-1."""
    answer = agent_channel.get_channel(network.gateways[0]).ask(wire.Gauges())
    assert isinstance(answer, wire.GaugesAre), answer
    return {name: used for name, (used, _size) in answer.sets.items()}


def send_datagrams(lab: Lab, node: str, source: str, target: tuple[str, int], number: int, mark: bytes) -> None:
    """Open this many connections, each with one datagram."""
    for each in range(number):
        send(lab, node, (source, 4100 + each), target, mark)


def connect_quickly(lab: Lab, node: str, attempts: list[Attempt]) -> list[bool]:
    """Connect from the node, one attempt after the other, and return which were answered.

    This process connects: a process for each attempt would take so long that a limit of one per second could allow all of them.
    """
    with inside(lab, node):
        return [is_answered(each) for each in attempts]


def is_answered(attempt: Attempt) -> bool:
    try:
        attempt.make()
    except NoAnswerError:
        return False
    return True


def test_a_member_opens_no_more_than_his_limit_and_nobody_else_feels_it(lab: Lab, network: factories.Network) -> None:
    save_limits(network, member_rate=1, member_burst=3, refuses=False)
    with conversation(lab, "m1", INTERNET, 80) as goes_on, watching(lab, "internet", 4999) as until:
        send_datagrams(lab, "m1", "10.16.0.10", (INTERNET, 4999), 10, b"many")
        send(lab, "m3", ("10.16.0.12", 4001), (INTERNET, 4999), b"honest")
        arrived = [each for each in until(b"honest") if b"many" in each.packet]
        assert goes_on()
    over = counter(lab, "nat-1", "over_member_rate")
    assert len(arrived) + over == 10
    assert 2 <= len(arrived) <= 4
    assert gauges(network)["member_rate4_1_3"] == 2


def test_a_member_is_limited_by_ipv6_prefix_whatever_address_he_takes(lab: Lab, network: factories.Network) -> None:
    save_limits(network, member_rate=1, member_burst=2)
    addresses = [f"2001:db8:a0:10::{last}" for last in range(20, 26)]
    for each in addresses:
        lab.run("m1", ["ip", "address", "add", f"{each}/64", "dev", "eth0", "nodad"])
    answered = connect_quickly(lab, "m1", [Attempt("tcp", INTERNET6, 80, source=each) for each in addresses])
    assert answered[0] and not all(answered)
    must_reach(lab, "m2", INTERNET6, 80)
    assert counter(lab, "nat-2", "over_member_rate") >= 1


def test_an_exempt_source_is_not_limited(lab: Lab, network: factories.Network) -> None:
    save_limits(network, member_rate=1, member_burst=1, exempt=("10.16.0.10",))
    five = [Attempt("tcp", INTERNET, 80)] * 5
    assert all(connect_quickly(lab, "m1", five))
    assert gauges(network)["member_rate4_1_1"] == 0
    assert not all(connect_quickly(lab, "m2", five))


def test_open_connections_are_counted_until_they_end(lab: Lab, network: factories.Network) -> None:
    save_limits(network, member_open=2)
    with ExitStack() as stack:
        open_ = [stack.enter_context(conversation(lab, "m1", INTERNET, 80)) for _ in range(2)]
        assert reaches(lab, "m1", INTERNET, 80) is None
        must_reach(lab, "m2", INTERNET, 80)
        assert all(goes_on() for goes_on in open_)
        assert counter(lab, "nat-1", "over_member_open") == 1
    wait_for(lambda: reaches(lab, "m1", INTERNET, 80))
    wait_for(lambda: gauges(network)["member_open4_2"] == 0)


def test_a_foreign_address_opens_no_more_than_its_limit(lab: Lab, network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="udp", public_port=5000, private_port=5000, by=network.admin)
    save_limits(network, source_rate=1, source_burst=3, refuses=False)
    with watching(lab, "m1", 5000) as until:
        send_datagrams(lab, "internet", "203.0.113.66", FORWARD, 10, b"many")
        send(lab, "internet", (INTERNET, 4001), FORWARD, b"honest")
        arrived = [each for each in until(b"honest") if b"many" in each.packet]
    assert 3 <= len(arrived) <= 4
    assert len(arrived) + counter(lab, "nat-1", "over_source_rate") == 10


def test_open_connections_of_a_foreign_address_are_counted(lab: Lab, network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=5000, private_port=80, by=network.admin)
    save_limits(network, source_open=1)
    with conversation(lab, "internet", *FORWARD) as goes_on:
        assert reaches(lab, "internet", *FORWARD, source=INTERNET) is None
        must_reach(lab, "internet", *FORWARD, source="203.0.113.66")
        assert goes_on()


def test_mail_is_limited_and_nothing_else(lab: Lab, network: factories.Network) -> None:
    save_limits(network, mail_rate=1)
    must_reach(lab, "m1", INTERNET, 25)
    assert reaches(lab, "m1", INTERNET, 25) is None
    for _ in range(3):
        must_reach(lab, "m1", INTERNET, 587)
    must_reach(lab, "m2", INTERNET, 25)
    assert counter(lab, "nat-1", "over_mail_rate") == 1
