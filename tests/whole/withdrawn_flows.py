"""Connections that a change ends, held open beside another: one with a host that is banned, one through a forward that is withdrawn."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apps.bans.models import Ban, BanList
from apps.deployments.models import Rollout, RolloutStep
from apps.nat.services import add_forward, remove_forward
from tests import factories
from tests.whole.failover_system import FIRST, OTHER, FailoverSystem
from tests.whole.system import INTERNET, conversation, wait_for

BANNED, PORT = "203.0.113.11", 8443
State = RolloutStep.State


def ban(prefix: str) -> Ban:
    return Ban.objects.create(list=BanList.objects.get_or_create(name="Own")[0], prefix=prefix)


@contextmanager
def withdrawn_conversations(
    system: FailoverSystem, know_both: Callable[[FailoverSystem, str], tuple[bool, bool]]
) -> Iterator[Callable[[], tuple[bool, bool, bool]]]:
    """Hold a connection with a host, one through a forward, and one of another member, whose states the other gateway has.

    When `withdraw` has been called, the first two may not go on. The yielded function returns which of the three do. know_both: whether a
    gateway has the states of the first two.
    """
    lab, network = system.lab, system.network
    holding, public = network.residents["m1"].holding, factories.PUBLIC
    add_forward(holding=holding, public=public, protocol="tcp", public_port=PORT, private_port=443, by=network.admin)
    assert system.deploy().state == Rollout.State.CONFIRMED
    with (
        conversation(lab, "m1", BANNED, 7, patience=3) as banned,
        conversation(lab, "internet", str(public), PORT, patience=3) as through_forward,
        conversation(lab, "m3", INTERNET, 7) as other,
    ):
        wait_for(lambda: know_both(system, OTHER) == (True, True))
        yield lambda: (banned(), through_forward(), other())


def track_both(system: FailoverSystem, name: str) -> tuple[bool, bool]:
    """Return whether the gateway's kernel tracks the connection with the host, and the one through the forward."""
    return system.has_flow(name, f"dst={BANNED}"), system.has_flow(name, f"dport={PORT}")


def withdraw(system: FailoverSystem) -> Rollout:
    """Ban the host and withdraw the forward, while the first gateway cannot be reached."""
    ban(BANNED)
    remove_forward(forward=system.network.residents["m1"].holding.portforwards.get(), by=system.network.admin)
    rollout = system.deploy()
    assert dict(rollout.steps.values_list("gateway__name", "state")) == {FIRST: State.AWAY, OTHER: State.CONFIRMED}
    return rollout
