"""Changes that wait for a second person (removals beyond the limits, management), holds and pauses. The gateways are real agents,
in memory.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.deployments import services
from apps.deployments.approvals import approval_gate
from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.models import GatewayState, HeldBack, Hold, Revision, Rollout, RolloutStep
from apps.deployments.revision_pages import contents
from apps.deployments.rollouts import lease_heartbeat, rollout_store
from apps.deployments.rollouts.decisions import abort_rollout, approve_part, pause_rollout, release_revision_hold, resume_rollout
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.lib.errors import Conflict, Problem
from apps.nat.models import PortForward
from apps.network.gateway_sentences import translate_rollout_error
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from firewall.policy import PolicyError
from firewall.rollout import RolloutEvent
from firewall.ruleset import Ruleset
from tests import factories
from tests.db.locks import waiting
from tests.db.rollout_rows import forward, open_rollout
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(cautious_network: factories.Network) -> factories.Network:
    return cautious_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    """Another account that can approve."""
    return factories.user("jonas")


def running(name: str = "nat-1") -> Ruleset:
    """Return the ruleset that the portal believes a gateway runs. The agent has confirmed its digest."""
    known = services.gateway_cache.recall(Gateway.objects.get(name=name).pk)
    assert known
    return known.ruleset


def withdraw(network: factories.Network, ports: range, *, by: User | None = None) -> Rollout | None:
    with factories.written_by(by or network.admin):
        PortForward.objects.filter(public_port__in=ports).delete()
    return reconcile(network.group)


@pytest.fixture
def forwards(network: factories.Network) -> list[PortForward]:
    """Six forwards, active on both gateways."""
    made = [forward(network, port) for port in range(7001, 7007)]
    assert reconcile(network.group)
    return made


def test_too_many_removals_wait_and_the_rest_goes_out(network: factories.Network, forwards: list[PortForward], peer: User) -> None:
    forward(network, 8000)
    rollout = withdraw(network, range(7001, 7006))
    assert rollout and rollout.state == Rollout.State.CONFIRMED
    held = HeldBack.objects.get()
    assert (held.kind, held.removed, held.of, list(held.askers.all())) == ("forwards", 5, 6, [network.admin])
    assert "delete element inet netzwart forward4" in held.text
    assert len(running().elements["forward4"]) == 7


def test_two_workers_that_find_too_many_removals_at_once_hold_them_back_once(
    network: factories.Network, forwards: list[PortForward]
) -> None:
    with factories.written_by(network.admin):
        PortForward.objects.filter(public_port__in=range(7001, 7006)).delete()
    with ThreadPoolExecutor(2) as workers, open_other_connection(str(connection.settings_dict["NAME"])) as elsewhere:
        elsewhere.execute(approval_gate.LOCK, [network.group.pk])
        begun = [workers.submit(reconcile_in_thread, network.group) for _worker in range(2)]
        wait_for(lambda: waiting() == 2)
        elsewhere.rollback()
        for each in begun:
            each.result(60)
    assert HeldBack.objects.count() == 1


def reconcile_in_thread(group: GatewayGroup) -> None:
    try:
        reconcile(group)
    finally:
        connection.close()


def test_few_removals_wait_for_nobody(network: factories.Network, forwards: list[PortForward]) -> None:
    assert withdraw(network, range(7001, 7003))
    assert not HeldBack.objects.exists()
    assert len(running().elements["forward4"]) == 4


def test_an_approval_lets_exactly_that_go_out(network: factories.Network, forwards: list[PortForward], peer: User) -> None:
    withdraw(network, range(7001, 7006))
    held = HeldBack.objects.get()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    rollout = reconcile(network.group, by=peer.pk)
    assert rollout and rollout.state == Rollout.State.CONFIRMED
    assert len(running().elements["forward4"]) == 1
    assert reconcile(network.group) is None
    held.refresh_from_db()
    assert held.state == HeldBack.State.DONE


def test_later_changes_do_not_void_what_is_waited_for(network: factories.Network, forwards: list[PortForward], peer: User) -> None:
    withdraw(network, range(7001, 7006))
    held = HeldBack.objects.get()
    forward(network, 8000)
    assert reconcile(network.group, by=network.admin.pk)
    assert withdraw(network, range(7006, 7007)), "one more removal is within the limits"
    assert HeldBack.objects.get().digest == held.digest
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    assert reconcile(network.group)
    assert len(running().elements["forward4"]) == 1


def test_an_approval_of_something_else_is_refused(network: factories.Network, forwards: list[PortForward], peer: User) -> None:
    withdraw(network, range(7001, 7006))
    with pytest.raises(Conflict, match="Look at it again"):
        approve_part(HeldBack.objects.get(), digest="0" * 64, by=peer, signed_in_again=False)


def test_what_comes_back_is_no_longer_waited_for(network: factories.Network, forwards: list[PortForward]) -> None:
    withdraw(network, range(7001, 7006))
    for port in range(7001, 7006):
        forward(network, port)
    reconcile(network.group)
    assert HeldBack.objects.get().state == HeldBack.State.OBSOLETE


def test_requesters_cannot_approve_their_own_change_while_others_can(
    network: factories.Network, forwards: list[PortForward], peer: User
) -> None:
    withdraw(network, range(7001, 7006))
    held = HeldBack.objects.get()
    with pytest.raises(Problem, match="Another person has to approve it"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True)


def test_a_single_approver_signs_in_again_and_the_history_says_so(network: factories.Network, forwards: list[PortForward]) -> None:
    withdraw(network, range(7001, 7006))
    held = HeldBack.objects.get()
    with pytest.raises(Problem, match="Sign in again"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=False)
    assert approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True).alone


def test_a_change_of_management_waits_and_its_rules_stay(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=2222)
    forward(network, 8000)
    assert reconcile(network.group, by=network.admin.pk)
    held = HeldBack.objects.get()
    assert (held.kind, held.text) == ("management", "nat-1: port: 22 -> 2222")
    assert len(running().elements["forward4"]) == 1
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    rollout = reconcile(network.group)
    assert rollout and not rollout.harmless and rollout.state == Rollout.State.CONFIRMED
    assert rollout.revision.management["nat-1"]["port"] == 2222
    reconcile(network.group)
    held.refresh_from_db()
    assert held.state == HeldBack.State.DONE


def test_a_network_that_lost_all_its_members_is_refused(network: factories.Network) -> None:
    for resident in network.residents.values():
        resident.member.state = "left"
        resident.member.save()
    with pytest.raises(PolicyError, match="no active member"):
        reconcile(network.group)
    assert running().elements["up4"]


def test_a_rollback_holds_the_group_until_it_is_released(network: factories.Network, forwards: list[PortForward]) -> None:
    before = Revision.objects.latest("pk")
    forward(network, 8000)
    reconcile(network.group)
    roll_back(before, why="members cannot reach their mail", by=network.admin)
    rollout = reconcile(network.group, cause="schedule")
    assert rollout and rollout.state == Rollout.State.CONFIRMED
    assert (rollout.revision.again, rollout.revision.cause, rollout.revision.by) == (before, "rollback", network.admin)
    assert len(running().elements["forward4"]) == 6
    forward(network, 8001)
    for cause in ("change", "schedule"):
        assert reconcile(network.group, cause=cause) is None, "the tick does not undo it"
    release_revision_hold(network.group, by=network.admin)
    assert reconcile(network.group)
    assert len(running().elements["forward4"]) == 8
    with pytest.raises(Conflict, match="not on hold"):
        release_revision_hold(network.group, by=network.admin)


def test_a_rollback_says_why(network: factories.Network) -> None:
    with pytest.raises(Problem, match="Enter a reason"):
        roll_back(Revision.objects.latest("pk"), why=" ", by=network.admin)
    assert not Hold.objects.exists()


def test_every_revision_is_kept_and_reads_back_as_it_was(network: factories.Network) -> None:
    rulesets = []
    for port in range(8000, 8006):
        forward(network, port)
        rollout = reconcile(network.group)
        assert rollout
        rulesets.append((rollout.revision, running("nat-1"), running("nat-2")))
    for revision, nat_1, nat_2 in rulesets:
        assert contents.load_rulesets(revision) == {"nat-1": nat_1, "nat-2": nat_2}


def test_a_worker_that_begins_anew_reads_what_runs_from_the_database(network: factories.Network, forwards: list[PortForward]) -> None:
    was = running()
    services.gateway_cache = RulesetCache()
    withdraw(network, range(7001, 7006))
    assert HeldBack.objects.get().removed == 5
    assert running() == was


def test_the_contents_of_old_revisions_are_forgotten_but_for_what_newer_ones_need(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "WHOLE_EVERY", 3)
    for port in range(8000, 8008):
        forward(network, port)
        reconcile(network.group)
    revisions = list(Revision.objects.order_by("pk"))
    assert contents.delete_contents_before(revisions[5]) > 0
    assert not contents.is_content_stored(revisions[0])
    assert contents.load_rulesets(revisions[-1])["nat-1"] == running()
    with pytest.raises(Problem, match="not kept any more"):
        roll_back(revisions[0], why="too late", by=network.admin)


# --- Pausing and going back


def test_a_paused_rollout_goes_on_when_somebody_resumes_it(network: factories.Network) -> None:
    forward(network, 8000)
    lease = open_rollout(network)
    pause_rollout(lease.rollout, by=network.admin)
    Rollout.objects.update(lease_until=timezone.now())
    paused = reconcile(network.group)
    assert paused and paused.state == Rollout.State.PAUSED
    assert [step.state for step in paused.steps.all()] == [RolloutStep.State.CONFIRMED, RolloutStep.State.WAITING]
    assert reconcile(network.group) is None, "newer changes wait for it"
    resume_rollout(paused, by=network.admin)
    resumed = reconcile(network.group)
    assert resumed and (resumed.pk, resumed.state) == (paused.pk, Rollout.State.CONFIRMED)


class Hesitant(WorkerLinks):
    """Links with which an administrator aborts the rollout while the first gateway is contacted."""

    def __init__(self, network: factories.Network) -> None:
        self.network = network

    def knock(self, gateway: Gateway) -> float:
        abort_rollout(Rollout.objects.latest("pk"), by=self.network.admin)
        raise agent_channel.Unreachable("nobody answers the door")


def test_going_back_now_takes_back_what_is_on_trial_and_leaves_the_rest_alone(network: factories.Network) -> None:
    forward(network, 8000)
    aborted = reconcile(network.group, links=Hesitant(network))
    assert aborted and aborted.state == Rollout.State.ABORTED
    steps = list(aborted.steps.all())
    assert [step.state for step in steps] == [RolloutStep.State.WENT_BACK, RolloutStep.State.SKIPPED]
    assert steps[0].evidence[0]["text"] == "nobody answers the door" and steps[0].committed
    assert reconcile(network.group, cause="schedule") is None, "not tried again until somebody says so, or something changes"
    forward(network, 8001)
    following = reconcile(network.group)
    assert following and following.state == Rollout.State.CONFIRMED
    with pytest.raises(Conflict, match="is over"):
        abort_rollout(aborted, by=network.admin)


def test_a_worker_that_was_replaced_writes_nothing(network: factories.Network) -> None:
    forward(network, 8000)
    sleeping = open_rollout(network)
    Rollout.objects.update(lease_until=timezone.now())
    done = reconcile(network.group)
    assert done and done.pk == sleeping.rollout.pk and done.state == Rollout.State.CONFIRMED
    evidence = [step.evidence for step in done.steps.all()]
    rollout_store.add_evidence(sleeping, "knock", passed=False, ms=5000, text="no answer")
    assert [step.evidence for step in done.steps.all()] == evidence
    with pytest.raises(rollout_store.RolloutLeaseLost):
        rollout_store.record_event(sleeping, RolloutEvent.COMMITTED)
    answer = agent_channel.get_channel(network.gateways[0]).ask(wire.Revert(sleeping.rollout.token))
    assert isinstance(answer, wire.Refused) and answer.reason == "token"
    assert set(GatewayState.objects.values_list("revision", flat=True)) == {done.revision_id}


def test_a_rollout_whose_worker_died_ends_also_when_nothing_can_be_deployed_any_more(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward(network, 8000)
    left = open_rollout(network).rollout
    Rollout.objects.update(lease_until=timezone.now())

    def refuse(_group: GatewayGroup) -> DesiredState:
        raise PolicyError("two members hold one address")

    monkeypatch.setattr(services.desired_state_cache, "get_current", refuse)
    with pytest.raises(PolicyError, match="two members"):
        reconcile(network.group)
    left.refresh_from_db()
    assert left.state == Rollout.State.FAILED
    assert translate_rollout_error(left.error) == "What the gateways should run cannot be deployed any more: two members hold one address"


def test_only_one_worker_takes_over(network: factories.Network) -> None:
    forward(network, 8000)
    open_rollout(network)
    assert rollout_store.claim_rollout(network.group) is None, "the lease is alive"
    Rollout.objects.update(lease_until=timezone.now())
    assert rollout_store.list_abandoned_groups() == [network.group]
    assert rollout_store.claim_rollout(network.group) is not None
    assert rollout_store.claim_rollout(network.group) is None


# --- Without a browser


def output(*arguments: str) -> str:
    told = StringIO()
    call_command("rollback", *arguments, stdout=told)
    return told.getvalue()


def test_a_rollback_works_without_browser_and_worker(network: factories.Network, forwards: list[PortForward]) -> None:
    before = Revision.objects.latest("pk")
    forward(network, 8000)
    reconcile(network.group)
    told = output(str(before), "--why", "no mail", "--as", "mara")
    assert f"Lindenhof is on hold at {before}" in told and "nat-1 confirmed" in told and "nat-2 confirmed" in told
    assert len(running().elements["forward4"]) == 6
    assert f"Lindenhof is on hold at {before} by mara" in output()
    assert "follows the database again" in output("--release", "Lindenhof", "--as", "mara")
    assert len(running().elements["forward4"]) == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["r1"], "Give your account with --as USERNAME, one of mara"),
        (["r999999", "--as", "mara"], "Unknown revision r999999"),
        (["x", "--as", "mara"], "Unknown revision x"),
        (["--release", "Nowhere", "--as", "mara"], "Unknown group Nowhere. Known: Lindenhof"),
        (["--release", "Lindenhof", "--as", "mara"], "not on hold any more"),
        (["r1", "--release", "Lindenhof"], "Give either a revision"),
    ],
)
def test_what_cannot_be_gone_back_to_is_said(network: factories.Network, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        output(*arguments)


# --- Leases


class SlowLinks(WorkerLinks):
    """Links whose gateways answer only after the lease was renewed."""

    def knock(self, gateway: Gateway) -> float:
        def lease() -> datetime | None:
            return Rollout.objects.latest("pk").lease_until

        before = lease()
        wait_for(lambda: lease() != before)
        assert rollout_store.claim_rollout(gateway.group) is None, "nobody takes over what is being worked on"
        return 1.0


def test_a_gateway_that_takes_long_does_not_cost_the_lease(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease_heartbeat, "SECONDS", 0.02)
    forward(network, 8000)
    rollout = reconcile(network.group, links=SlowLinks())
    assert rollout and rollout.state == Rollout.State.CONFIRMED


@contextmanager
def transaction_elsewhere() -> Iterator[None]:
    """Keep a transaction with an id open in another database of the same server, as a backup or another program would."""
    with open_other_connection("postgres") as other:
        other.execute("SELECT pg_current_xact_id()")
        yield


def open_other_connection(database: str) -> psycopg.Connection:
    known = connection.settings_dict
    return psycopg.connect(dbname=database, host=known["HOST"], user=known["USER"], port=known["PORT"] or None)


def test_a_transaction_that_runs_elsewhere_all_the_while_makes_no_author_unknown(network: factories.Network, peer: User) -> None:
    with transaction_elsewhere():
        for port in range(7001, 7007):
            forward(network, port)
        assert reconcile(network.group)
        withdraw(network, range(7001, 7006))
        held = HeldBack.objects.get()
        assert (list(held.askers.all()), held.asker_unknown) == ([network.admin], False)
        approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
