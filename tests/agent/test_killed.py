"""SIGKILL at any moment: afterwards the last confirmed ruleset runs, complete."""

import pytest

from firewall import wire
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import Served, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import ban, network, step, text_of, whole

BEFORE, AFTER = network(40), network(60, ban("203.0.113.9/32", "scans"))


def send(gateway: Served, request: wire.Request, share: float = 1.0) -> None:
    """Send the request, or a part of it, without waiting."""
    octets = b"".join(wire.iter_lines(99, request))
    gateway.client.send(octets[: int(len(octets) * share)])


@restrict_to_gateways("served", "served on the kernel")
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_killed_in_an_apply(gateway: Served, share: float) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    for _ in range(3):
        send(gateway, step(BEFORE, AFTER, token=2, now=clock()), share)
        gateway.restart()
        assert runs(gateway) == text_of(BEFORE)


@restrict_to_gateways("served", "served on the kernel")
def test_killed_after_an_apply(gateway: Served) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    assert isinstance(gateway.ask(step(BEFORE, AFTER, token=2, now=clock())), wire.Applied)
    gateway.restart()
    assert runs(gateway) == text_of(BEFORE)


@restrict_to_gateways("served", "served on the kernel")
def test_killed_in_a_confirm(gateway: Served) -> None:
    """The confirm may have succeeded or not, but nothing in between."""
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    running = BEFORE
    for token in range(2, 6):
        wanted = AFTER if running == BEFORE else BEFORE
        assert isinstance(gateway.ask(step(running, wanted, token=token, now=clock())), wire.Applied)
        send(gateway, wire.Confirm(token, text_of(wanted)))
        gateway.restart()
        assert runs(gateway) in (text_of(running), text_of(wanted))
        running = wanted if runs(gateway) == text_of(wanted) else running


@restrict_to_gateways("served", "served on the kernel")
def test_killed_after_a_confirm(gateway: Served) -> None:
    deploy(gateway, whole(BEFORE, token=1, now=clock()))
    deploy(gateway, step(BEFORE, AFTER, token=2, now=clock()))
    gateway.restart()
    assert runs(gateway) == text_of(AFTER)
