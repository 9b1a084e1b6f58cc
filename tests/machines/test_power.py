"""Gateways boot without the portal, and lose their power: nothing passes without rules, and a confirmed ruleset comes back."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.rollouts.trial_status import ON_TRIAL
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.gateways.group_settings import change_profile
from apps.nat.services import add_forward
from apps.network.models import Gateway
from lab.lab import Lab
from lab.machines.placement import wait_until_up
from lab.machines.virtual_machine import VirtualMachine
from lab.measure.runs import start_sniffer
from lab.measure.sniff import PRIVATE
from tests import factories
from tests.db.agents import runs, steps
from tests.machines.conftest import PATIENCE, STRANGER6, Traffic, reboot
from tests.whole.system import INTERNET, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.machines]

FIRST = "nat-1"  # each is primary for one family, so the rollout goes by name
CONNECTIONS, BUCKETS = 98_304, 49_152
StepState = RolloutStep.State
DEAF = """
    add table inet deaf; add chain inet deaf input { type filter hook input priority -500; }
    add rule inet deaf input tcp flags & (syn | ack) == syn drop
"""  # new connections get no answer, open ones go on: a committed change waits for its confirmation


@contextmanager
def nothing_leaves_without_rules(lab: Lab) -> Iterator[None]:
    """Send all the time, and fail if a packet arrives at the uplink that only a gateway without rules lets pass."""
    traffic = Traffic(lab)
    with start_sniffer(lab, "uplink", "transit", *PRIVATE, f"{STRANGER6}/128") as sniffer:
        with traffic.flowing():
            yield
        seen = sniffer.stop()
    assert (seen.leaked, seen.dropped) == (0, 0), seen.examples
    assert traffic.sent > 1000 and seen.seen, "packets were sent and, with rules, went out"


def list_gateways() -> list[Gateway]:
    return list(Gateway.objects.order_by("name"))


def read_connection_table(machine: VirtualMachine) -> list[int]:
    """Return the most connections, and the buckets of their table."""
    paths = "/proc/sys/net/netfilter/nf_conntrack_max /proc/sys/net/netfilter/nf_conntrack_buckets"
    return [int(word) for word in machine.run(f"cat {paths}").stdout.split()]


def test_a_reboot_without_the_portal_brings_back_rules_and_kernel_settings_before_the_first_packet(
    joined_machines: dict[str, VirtualMachine], network: factories.Network, lab: Lab
) -> None:
    values = {"connections": CONNECTIONS, "buckets": BUCKETS}
    change_profile(group=network.group, version=0, managed=True, by=network.admin, **values)
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    before = {gateway.name: runs(gateway) for gateway in list_gateways()}
    assert [read_connection_table(each) for each in joined_machines.values()] == [[CONNECTIONS, BUCKETS]] * 2
    agent_channel.close_all_channels()
    with nothing_leaves_without_rules(lab):
        reboot(joined_machines)
        wait_for(lambda: reaches(lab, "m1", INTERNET, 80), seconds=PATIENCE)
    assert {gateway.name: runs(gateway) for gateway in list_gateways()} == before
    assert [read_connection_table(each) for each in joined_machines.values()] == [[CONNECTIONS, BUCKETS]] * 2


@pytest.mark.parametrize("moment", [(StepState.SENDING,), ON_TRIAL], ids=["while it is sent", "while it is on trial"])
def test_a_power_cut_in_the_middle_of_a_deploy_leaves_a_whole_ruleset(
    joined_machines: dict[str, VirtualMachine], network: factories.Network, lab: Lab, moment: tuple[str, ...]
) -> None:
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    old = {gateway.name: runs(gateway) for gateway in list_gateways()}
    add_forward(
        holding=network.residents["m1"].holding,
        public=factories.PUBLIC,
        protocol="tcp",
        public_port=8443,
        private_port=443,
        by=network.admin,
    )
    if moment is ON_TRIAL:
        joined_machines[FIRST].run("nft -f -", text=DEAF)  # until the power is cut
    with nothing_leaves_without_rules(lab):
        deploying = threading.Thread(target=deploy, args=(network,))
        deploying.start()
        name = wait_for(lambda: find_step(moment), seconds=PATIENCE) or ""
        assert name == FIRST
        cut = joined_machines[name]
        cut.cut_power()
        deploying.join()
        assert Rollout.objects.latest("pk").state != Rollout.State.CONFIRMED
        agent_channel.close_all_channels()
        cut.switch_on()
        wait_until_up([cut])
        assert await_digest(Gateway.objects.get(name=name)) == old[name], "what was not confirmed is gone"
    assert steps(reconcile(network.group, force=True)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert {each.name: runs(each) for each in list_gateways()} == dict(GatewayState.objects.values_list("gateway__name", "digest"))


def await_digest(gateway: Gateway) -> str:
    """Return the digest of what the gateway runs, once its agent answers: sshd is up before it."""
    found: str = wait_for(lambda: _read_digest(gateway), seconds=PATIENCE)
    return found


def _read_digest(gateway: Gateway) -> str:
    try:
        return runs(gateway)
    except agent_channel.Unreachable:
        agent_channel.close_all_channels()
        return ""


def deploy(network: factories.Network) -> None:
    """Deploy what has changed, on a connection of this thread's own."""
    try:
        reconcile(network.group)
    finally:
        connection.close()


def find_step(states: tuple[str, ...]) -> str | None:
    """Return the gateway whose step of the last rollout is in one of these states."""
    found = RolloutStep.objects.filter(rollout=Rollout.objects.latest("pk"), state__in=states).select_related("gateway").first()
    return found.gateway.name if found else None
