"""Rollouts to in-memory gateways, which run as separate processes and need neither root nor a kernel."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.bans import services as bans
from apps.bans.ban_list_page import build_ban_rows as rows_of
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import GatewayState, Revision, Rollout, RolloutStep
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.rollouts.rollout_store import NewRollout, RolloutNotNeeded
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_channel import AgentChannel
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """The lab's network as database rows, and two gateways in memory."""
    return served_network


def forward(network: factories.Network, port: int = 8443) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def test_a_gateway_in_memory_says_so(network: factories.Network) -> None:
    reconcile(network.group)
    assert set(GatewayState.objects.values_list("in_memory", flat=True)) == {True}


def test_whoever_carries_less_goes_first(network: factories.Network) -> None:
    nat_1, nat_2 = network.gateways
    nat_1.carries4 = nat_1.carries6 = True
    nat_2.carries6 = False
    nat_2.save()
    nat_1.save()
    rollout = reconcile(network.group)
    assert rollout is not None
    assert [step.gateway.name for step in rollout.steps.all()] == ["nat-2", "nat-1"]


def test_two_workers_at_once_make_one_rollout_at_a_time_and_end_on_one_revision(network: factories.Network) -> None:
    forward(network)

    def work(_: int) -> None:
        try:
            reconcile(network.group)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    reconcile(network.group)
    assert not Rollout.objects.filter(state__in=Rollout.OPEN).exists()
    assert Rollout.objects.filter(state=Rollout.State.CONFIRMED).count() >= 1
    [digest_1, digest_2] = GatewayState.objects.values_list("digest", flat=True)
    assert digest_1 == digest_2


def test_an_outdated_desired_state_opens_no_rollout(network: factories.Network) -> None:
    reconcile(network.group)
    stale = compute_desired_state(network.group)
    forward(network)
    newest = reconcile(network.group)
    assert newest and newest.state == Rollout.State.CONFIRMED
    opening = NewRollout(network.group, stale, tuple(network.gateways), None, "schedule", harmless=True, management={})
    assert rollout_store.open_rollout(opening) is None
    assert Rollout.objects.latest("pk") == newest
    assert {state.revision for state in GatewayState.objects.select_related("revision")} == {newest.revision}


def test_a_read_that_does_not_see_what_the_last_one_saw_opens_no_rollout_although_no_later_transaction_had_begun(
    network: factories.Network,
) -> None:
    reconcile(network.group)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        (xmax,) = cursor.fetchone()
    unseen, newest = f"{xmax - 1}:{xmax}:{xmax - 1}", f"{xmax}:{xmax}:"
    forward(network)
    confirmed = reconcile(network.group)
    assert confirmed
    Revision.objects.filter(pk=confirmed.revision_id).update(snapshot=newest)
    wanted = compute_desired_state(network.group)
    stale = replace(wanted, snapshot=replace(wanted.snapshot, seen=unseen))
    opening = NewRollout(network.group, stale, tuple(network.gateways), None, "schedule", harmless=True, management={})
    assert rollout_store.open_rollout(opening) is None
    same = replace(opening, wanted=replace(wanted, snapshot=replace(wanted.snapshot, seen=newest)))
    assert rollout_store.open_rollout(same) is not None


class DeafStandby(WorkerLinks):
    """Connections of a worker that one gateway does not answer, until it is mended."""

    def __init__(self, gateway: Gateway) -> None:
        self._deaf: Gateway | None = gateway

    def mend(self) -> None:
        self._deaf = None

    def get_channel(self, gateway: Gateway) -> AgentChannel:
        if gateway != self._deaf:
            return super().get_channel(gateway)
        return super().get_channel(Gateway(pk=gateway.pk + 1_000_000, name="nowhere", group=gateway.group))


def test_a_group_that_waits_for_a_gateway_does_not_try_again_before_it_answers(network: factories.Network) -> None:
    GatewayGroup.objects.filter(pk=network.group.pk).update(goes_on=False)
    network.group.refresh_from_db()
    first = reconcile(network.group)
    assert first
    links = DeafStandby(first.steps.all()[0].gateway)
    forward(network)
    failed = reconcile(network.group, links=links)
    assert failed and [step.state for step in failed.steps.all()] == [RolloutStep.State.AWAY, RolloutStep.State.SKIPPED]
    assert reconcile(network.group, cause="schedule", links=links) is None
    forward(network, 8444)
    changed = reconcile(network.group, links=links)
    assert changed and changed.pk != failed.pk, "another desired state is another try"
    links.mend()
    answered = reconcile(network.group, cause="schedule", links=links)
    assert answered and answered.state == Rollout.State.CONFIRMED


class LateLinks(WorkerLinks):
    """Connections of a worker that another one overtakes: before its first question, the other has made the same rollout."""

    def __init__(self, group: GatewayGroup) -> None:
        self._group = group
        self.made: Rollout | None = None

    def get_channel(self, gateway: Gateway) -> AgentChannel:
        self.made = self.made or reconcile(self._group)
        return super().get_channel(gateway)


def test_a_rollout_that_another_worker_has_just_made_is_not_made_again(network: factories.Network) -> None:
    reconcile(network.group)
    forward(network)
    links = LateLinks(network.group)
    assert reconcile(network.group, cause="schedule", links=links) is None
    assert links.made and links.made.state == Rollout.State.CONFIRMED
    assert Rollout.objects.latest("pk") == links.made


def test_what_a_gateway_lost_is_put_right_although_all_had_confirmed_it(network: factories.Network) -> None:
    first = reconcile(network.group)
    assert first
    opening = NewRollout(
        network.group, compute_desired_state(network.group), tuple(network.gateways), None, "schedule", harmless=True, management={}
    )
    with pytest.raises(RolloutNotNeeded):
        rollout_store.open_rollout(replace(opening, repairs=False))
    assert Rollout.objects.latest("pk") == first
    assert rollout_store.open_rollout(opening)


def test_a_change_during_a_rollout_is_not_forgotten(network: factories.Network) -> None:
    rollout = reconcile(network.group)
    assert rollout is not None
    Rollout.objects.filter(pk=rollout.pk).update(state=Rollout.State.APPLYING)
    forward(network)
    assert reconcile(network.group) is None
    rollout.refresh_from_db()
    assert rollout.again


def test_what_a_gateway_refused_is_not_tried_again_until_somebody_says_so(network: factories.Network) -> None:
    reconcile(network.group)
    for gateway in network.gateways:
        channel = agent_channel.get_channel(gateway)
        welcome = agent_client.send_hello(channel, 0)
        channel.ask(wire.Confirm(10**6, welcome.digest))
    forward(network)
    refused = reconcile(network.group)
    assert refused is not None
    assert refused.state == Rollout.State.FAILED
    assert "token" in refused.error
    assert reconcile(network.group) is None
    assert reconcile(network.group, force=True) is not None


def output(command: str, *arguments: str) -> str:
    told = StringIO()
    call_command(command, *arguments, stdout=told)
    return told.getvalue()


def test_plan_says_in_words_and_nft_text_what_a_deploy_would_change(network: factories.Network) -> None:
    reconcile(network.group)
    forward(network)
    told = output("plan")
    assert "nat-1: 1 forwarded port added" in told
    assert "add element inet netzwart forward4 { 198.51.100.7 . tcp . 8443 : 10.16.0.10 . 443 }" in told
    assert Rollout.objects.count() == 1


def test_plan_says_when_nothing_changes(network: factories.Network) -> None:
    reconcile(network.group)
    assert output("plan") == "nat-1: nothing changes\nnat-2: nothing changes\n"


def test_deploy_shows_each_gateways_outcome(network: factories.Network) -> None:
    told = output("deploy")
    assert told.count("confirmed") == 2


def test_compile_writes_a_script_for_nft(network: factories.Network, tmp_path: Path) -> None:
    script = tmp_path / "nat-1.nft"
    assert "nat-1: " in output("compile", "--output", str(script))
    assert script.read_text().startswith("add table inet netzwart\n")


def test_compile_names_an_unknown_gateway_and_the_known_ones(network: factories.Network) -> None:
    with pytest.raises(CommandError, match=r"Unknown gateway 'nat-7'. Known: nat-1, nat-2."):
        call_command("compile", "--gateway", "nat-7")


def test_compile_says_which_file_cannot_be_written(network: factories.Network, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No such file or directory"):
        call_command("compile", "--output", str(tmp_path / "no" / "where.nft"))


def test_a_ban_stands_as_its_list_says_only_after_the_next_rollout(network: factories.Network) -> None:
    of = bans.create_list(name="Own", by=network.admin)
    made = bans.ban_prefix(list=of, prefix="203.0.113.9", author=network.admin)

    def change(**wanted: object) -> None:
        given = {"name": of.name, "description": "", "enabled": of.enabled} | wanted
        bans.change_list(list=of, version=of.version, by=network.admin, **given)  # type: ignore[arg-type]  # mixed types

    def missing() -> list[str]:
        return rows_of([made], of)[0].waits_for

    assert missing() == ["nat-1", "nat-2"]
    reconcile(network.group)
    assert missing() == []
    change(enabled=False)
    assert missing() == ["nat-1", "nat-2"]
    reconcile(network.group)
    change(name="Ours")
    assert missing() == []
