"""Roles in failover: what is made of the gateways' reports, what is wrong with them, and what a person can do about it."""

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.desk.needs.roles import iter_attention_items
from apps.gateways.evidence.models import EvidenceArchive
from apps.gateways.retention import prune_carrier_changes, prune_switches
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.roles.observation import _store_problem, note_carriers, store_roles
from apps.gateways.roles.outcomes import Outcome, describe_outcome
from apps.gateways.roles.picture import build_roles_picture
from apps.gateways.roles.problems import list_problems
from apps.gateways.roles.switch_plan import plan_switch
from apps.gateways.roles.switching import await_switch_end, carry_out_switch, end_forgotten_switches, request_switch
from apps.lib.errors import Conflict, Problem
from apps.network.models import Failover
from firewall.roles import FailoverRole, RolesAre
from tests import factories
from tests.db.page_client import signed_in, text
from tests.role_reports import make_revision, report, report_both, set_up_failover

pytestmark = pytest.mark.django_db(transaction=True)
Kind, State = RoleSwitch.Kind, RoleSwitch.State
PRIMARY, STANDBY, FAULT = FailoverRole.PRIMARY, FailoverRole.STANDBY, FailoverRole.FAULT
JSON = "application/json"


@pytest.fixture(autouse=True)
def _failover(network: factories.Network) -> None:
    set_up_failover(network)


def read_problems(network: factories.Network) -> list[tuple[str, str]]:
    return [(each.kind.value, each.text) for each in list_problems(build_roles_picture(network.group), timezone.now())]


def test_a_carrier_and_a_standby_with_its_states_have_no_problem(network: factories.Network) -> None:
    report_both(network)
    assert read_problems(network) == []
    assert list(iter_attention_items(timezone.now(), ())) == []


@pytest.mark.parametrize(
    ("first", "other", "kind", "words"),
    [
        ({"role": FAULT}, {}, "bad", "No gateway carries IPv4."),
        ({}, {"role": PRIMARY}, "bad", "nat-1, nat-2 carry IPv4 at the same time."),
        ({"role": STANDBY}, {"role": PRIMARY}, "warn", "IPv4 is carried by nat-2, and nat-1 is preferred."),
        ({}, {"elected_age": 100}, "bad", "keepalived does not run on nat-2"),
        ({}, {"elected_age": -1}, "bad", "keepalived does not run on nat-2"),
        ({}, {"synchronised_age": 600}, "bad", "conntrackd does not answer on nat-2"),
        ({}, {"role": FAULT, "is_drained": True}, "warn", "nat-2 is drained of IPv4"),
        ({}, {"role": FAULT}, "warn", "nat-2 cannot take over IPv4"),
        ({}, {"tracked": 9_000}, "warn", "nat-2 has 9,000 connections, nat-1 20,000"),
    ],
)
def test_what_is_wrong_is_said(network: factories.Network, first: dict[str, Any], other: dict[str, Any], kind: str, words: str) -> None:
    report_both(network, first, other)
    assert (kind, True) in [(found, words in text) for found, text in read_problems(network)]
    (need,) = iter_attention_items(timezone.now(), ())
    assert need.url == f"/gateways/groups/{network.group.pk}/failover/"


def test_a_standby_that_keeps_states_in_memory_lacks_none(network: factories.Network) -> None:
    Failover.objects.update(cache=Failover.Cache.EXTERNAL)
    report_both(network, other={"tracked": 3})
    assert read_problems(network) == []


def test_that_a_gateway_which_is_away_does_not_tell_its_roles_is_no_second_need(network: factories.Network) -> None:
    report_both(network)
    FailoverStatus.objects.filter(gateway=network.gateways[1]).update(problem="no answer")
    (need,) = iter_attention_items(timezone.now(), ())
    assert need.what == "nat-2 does not tell its roles: no answer"
    assert list(iter_attention_items(timezone.now(), {network.gateways[1].pk})) == []


def test_a_gateway_that_was_not_asked_lately_is_named(network: factories.Network) -> None:
    report_both(network)
    FailoverStatus.objects.filter(gateway=network.gateways[1]).update(seen=timezone.now() - timedelta(hours=1))
    assert ("warn", "nat-2 was not asked lately.") in read_problems(network)


def test_a_dead_carrier_is_no_second_one_and_the_change_has_its_cause(network: factories.Network) -> None:
    report_both(network)
    FailoverStatus.objects.filter(gateway=network.gateways[0]).update(problem="no answer")
    report(network, 1, PRIMARY, since=1_800_000_500)
    note_carriers(network.group, timezone.now())
    note_carriers(network.group, timezone.now())
    assert list(CarrierChange.objects.order_by("id").values_list("carriers", "cause")) == [(["nat-1"], "first"), (["nat-2"], "fault")]
    problems = [text for _kind, text in read_problems(network)]
    assert "IPv4 is carried by nat-2, and nat-1 is preferred." in problems
    assert "nat-1 does not tell its roles: no answer" in problems


@pytest.mark.parametrize(
    ("first", "cause"), [({"role": FAULT, "is_drained": True}, "drained"), ({"role": FAULT}, "fault"), ({"role": STANDBY}, "election")]
)
def test_the_cause_of_a_change_follows_from_the_former_carrier(network: factories.Network, first: dict[str, Any], cause: str) -> None:
    report_both(network)
    report_both(network, first, {"role": PRIMARY})
    assert CarrierChange.objects.order_by("-id").values_list("carriers", "cause")[0] == (["nat-2"], cause)


def test_a_carrier_that_fails_right_after_it_took_over_by_a_switch_did_not_lose_the_family_by_that_switch(
    network: factories.Network,
) -> None:
    report_both(network)
    done = {"state": State.DONE, "started": timezone.now(), "ended": timezone.now(), "outcome": Outcome.MOVED.value}
    RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], kind=Kind.SWITCH, families=[4], **done)
    report_both(network, {"role": STANDBY}, {"role": PRIMARY})
    report_both(network, {"role": PRIMARY}, {"role": FAULT})
    assert list(CarrierChange.objects.order_by("id").values_list("carriers", "cause")) == [
        (["nat-1"], "first"),
        (["nat-2"], "switch"),
        (["nat-1"], "fault"),
    ]


def test_a_family_that_is_not_reported_any_more_has_no_role(network: factories.Network) -> None:
    report_both(network)
    store_roles(network.gateways[1], RolesAre((), 0, 0, 0), timezone.now())
    assert list(GatewayRole.objects.values_list("status__gateway__name", flat=True)) == ["nat-1"]


def test_a_switch_goes_to_the_standby(network: factories.Network) -> None:
    report_both(network)
    plan = plan_switch(network.gateways[0], Kind.SWITCH)
    assert (plan.families, plan.carried, plan.target, plan.obstacle) == ((4,), (4,), network.gateways[1], None)
    plan = plan_switch(network.gateways[1], Kind.DRAIN)
    assert (plan.families, plan.carried, plan.target, plan.obstacle) == ((4,), (), None, None)


@pytest.mark.parametrize(
    ("number", "kind", "other", "words"),
    [
        (1, Kind.SWITCH, {}, "nat-2 carries nothing that could be moved."),
        (1, Kind.RESUME, {}, "nat-2 is not drained."),
        (1, Kind.DRAIN, {"role": FAULT, "is_drained": True}, "nat-2 is drained already."),
        (0, Kind.SWITCH, {"role": FAULT}, "nat-2 is not a standby for IPv4: not ready."),
        (0, Kind.SWITCH, {"role": FAULT, "is_drained": True}, "nat-2 is drained of IPv4."),
        (0, Kind.DRAIN, {"elected_age": 60}, "keepalived does not run on nat-2."),
        (0, Kind.SWITCH, {"synchronised_age": -1}, "Connection states are not synchronised"),
        (0, Kind.SWITCH, {"tracked": 5}, "nat-2 has 5 connections, nat-1 20,000"),
    ],
)
def test_a_switch_that_would_cut_members_off_is_refused(
    network: factories.Network, number: int, kind: RoleSwitch.Kind, other: dict[str, Any], words: str
) -> None:
    report_both(network, other=other)
    with pytest.raises(Problem, match=words.replace(".", r"\.")):
        request_switch(gateway=network.gateways[number], kind=kind)
    assert not RoleSwitch.objects.exists()


def test_a_gateway_with_older_rules_does_not_take_over(network: factories.Network) -> None:
    report_both(network)
    GatewayState.objects.filter(gateway=network.gateways[1]).update(revision=None)
    with pytest.raises(Problem, match=r"nat-2 does not run the same revision as nat-1\. Deploy first\."):
        request_switch(gateway=network.gateways[0], kind=Kind.SWITCH)


def test_a_switch_waits_for_the_deploy_that_brings_the_other_gateway_its_rules(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    report_both(network)
    GatewayState.objects.filter(gateway=network.gateways[1]).update(revision=None)
    Rollout.objects.create(group=network.group, revision=make_revision(network.group))
    assert "A deploy is under way." in text(signed_in(network.admin).get(f"/gateways/{network.gateways[0].pk}/switch/switch/"))
    monkeypatch.setattr("apps.gateways.roles.switching.DEPLOY", 0.1)
    row = request_switch(gateway=network.gateways[0], kind=Kind.SWITCH)
    carry_out_switch(row.pk)
    row.refresh_from_db()
    assert (row.state, describe_outcome(row)) == (State.FAILED, "Nothing was done: a deploy had not ended after 0 s. Switch when it has.")


@contextmanager
def happens_at_the_first_look_at_deploys(event: Callable[[], object]) -> Iterator[None]:
    """Let this happen right after the first query that reads which revisions run, or which deploys are under way."""
    waiting = [event]

    def execute_and_call(execute: Any, sql: str, *given: Any) -> Any:
        result = execute(sql, *given)
        if waiting and sql.startswith("SELECT") and ("deployments_gatewaystate" in sql or "deployments_rollout" in sql):
            waiting.pop()()
        return result

    with connection.execute_wrapper(execute_and_call):
        yield
    assert not waiting


def test_a_deploy_that_ends_while_a_switch_is_planned_is_no_obstacle(network: factories.Network) -> None:
    report_both(network)
    old, new = GatewayState.objects.get(gateway=network.gateways[0]).revision, make_revision(network.group)
    GatewayState.objects.filter(gateway=network.gateways[1]).update(revision=new)
    Rollout.objects.create(group=network.group, revision=new, state=Rollout.State.APPLYING)

    def end_deploy() -> None:
        GatewayState.objects.update(revision=new)
        Rollout.objects.update(state=Rollout.State.CONFIRMED)

    assert old != new
    with happens_at_the_first_look_at_deploys(end_deploy):
        assert plan_switch(network.gateways[0], Kind.SWITCH).obstacle is None


def test_a_deploy_that_begins_while_a_switch_is_planned_is_no_obstacle(network: factories.Network) -> None:
    report_both(network)
    new = make_revision(network.group)

    def begin_deploy() -> None:
        Rollout.objects.create(group=network.group, revision=new, state=Rollout.State.APPLYING)
        GatewayState.objects.filter(gateway=network.gateways[1]).update(revision=new)

    with happens_at_the_first_look_at_deploys(begin_deploy):
        assert plan_switch(network.gateways[0], Kind.SWITCH).obstacle is None


def test_a_deploy_reaches_the_gateway_last_that_carries_the_members(network: factories.Network) -> None:
    def list_order() -> list[str]:
        return [each.name for each in list_in_rollout_order(network.group)]

    assert list_order() == ["nat-1", "nat-2"], "nobody has told a role, and each is primary for a family"
    report_both(network)
    assert list_order() == ["nat-2", "nat-1"]
    report_both(network, {"role": STANDBY}, {"role": PRIMARY})
    assert list_order() == ["nat-1", "nat-2"]
    report_both(network)
    FailoverStatus.objects.filter(gateway=network.gateways[0]).update(problem="It does not answer.")
    assert list_order() == ["nat-2", "nat-1"]


def test_a_group_has_one_switch_at_a_time(network: factories.Network) -> None:
    report_both(network)
    request_switch(gateway=network.gateways[0], kind=Kind.SWITCH)
    with pytest.raises(Conflict, match="is under way"):
        request_switch(gateway=network.gateways[0], kind=Kind.DRAIN)


def test_before_a_switch_evidence_of_both_gateways_is_requested(network: factories.Network) -> None:
    report_both(network)
    request_switch(gateway=network.gateways[0], kind=Kind.SWITCH)
    assert list(EvidenceArchive.objects.order_by("gateway__name").values_list("gateway__name", "cause", "state")) == [
        ("nat-1", "switch", "waiting"),
        ("nat-2", "switch", "waiting"),
    ]


@pytest.mark.parametrize("values", [{"families": []}, {"families": [5]}, {"kind": "jump"}, {"state": "done"}])
def test_the_database_refuses_a_switch_that_cannot_be(network: factories.Network, values: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        RoleSwitch.objects.create(**{"group": network.group, "gateway": network.gateways[0], "kind": "switch", "families": [4]} | values)


def test_who_waits_for_a_switch_whose_worker_was_lost_does_not_wait_for_ever(network: factories.Network) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    begun = {"kind": "switch", "families": [4], "state": State.RUNNING, "started": long_ago}
    row = RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], **begun)
    assert await_switch_end(row).outcome == Outcome.LOST


def test_a_gateways_refusal_is_stored_whatever_it_contains(network: factories.Network) -> None:
    _store_problem(network.gateways[0], "no\0" + "x" * 2000, timezone.now())
    assert len(FailoverStatus.objects.get().problem) == 1000


def test_a_switch_whose_worker_was_lost_ends(network: factories.Network) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    RoleSwitch.objects.create(
        group=network.group, gateway=network.gateways[0], kind="switch", families=[4], state=State.RUNNING, started=long_ago
    )
    end_forgotten_switches()
    assert "worker that did it has ended" in describe_outcome(RoleSwitch.objects.get())


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_sentence(network: factories.Network, outcome: Outcome) -> None:
    details = {"target": "nat-2", "seconds": "0.3", "packets": "", "reason": "Because."}
    row = RoleSwitch(
        group=network.group, gateway=network.gateways[0], kind="switch", families=[4, 6], outcome=outcome.value, details=details
    )
    assert describe_outcome(row).endswith(".")


def test_what_is_older_than_a_year_goes(network: factories.Network) -> None:
    now = timezone.now()
    for days in (1, 400):
        at = now - timedelta(days=days)
        CarrierChange.objects.create(group=network.group, family=4, carriers=["nat-1"], at=at, cause="first")
        ended = {"state": State.DONE, "ended": at, "outcome": "resumed"}
        RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], kind="resume", families=[4], **ended)
    assert (prune_carrier_changes(now, 10), prune_switches(now, 10)) == (1, 1)
    assert (CarrierChange.objects.count(), RoleSwitch.objects.count()) == (1, 1)


def test_the_page_shows_who_carries_and_a_press_requests_a_switch(network: factories.Network) -> None:
    report_both(network)
    mara, page = signed_in(network.admin), f"/gateways/groups/{network.group.pk}/failover/"
    assert "Switch over…" in text(mara.get(page))
    dialog = f"/gateways/{network.gateways[0].pk}/switch/switch/"
    assert "Let nat-2 take over from nat-1?" in text(mara.get(dialog))
    assert mara.post(dialog, {"families": []}).status_code == 422
    assert mara.post(dialog, {"families": ["4"]}).url == page  # type: ignore[attr-defined]  # a redirect
    row = RoleSwitch.objects.get()
    assert (row.families, row.by, row.state) == ([4], network.admin, State.WAITING)
    shown = text(mara.get(page, headers={"HX-Target": "roles"}))
    assert "waits for a worker" in shown
    assert "Switch over…" not in shown
    assert mara.get(f"/gateways/{network.gateways[0].pk}/switch/jump/").status_code == 404


def test_the_dialog_says_why_a_switch_is_not_possible(network: factories.Network) -> None:
    report_both(network, other={"role": FAULT})
    shown = text(signed_in(network.admin).get(f"/gateways/{network.gateways[0].pk}/switch/drain/"))
    assert "nat-1 cannot be drained now" in shown
    assert "nat-2 is not a standby for IPv4: not ready." in shown


def test_a_script_sees_roles_and_switches(network: factories.Network) -> None:
    report_both(network)
    key = tokens.create_token(user=network.admin, name="script")[1]
    api, at = Client(headers={"authorization": f"Bearer {key}"}), f"/api/gateways/gateways/{network.gateways[0].pk}/"
    told = api.get(f"{at}roles/").json()
    assert told["roles"] == [{"family": 4, "role": "primary", "since": "2027-01-15T08:00:00Z", "carries": True, "is_drained": False}]
    assert (told["runs_current_files"], told["edited"]) == (None, []), "without an address to sync there are no files for it"
    assert api.get(f"{at}switch/").json()["state"] == ""
    answer = api.post(f"{at}switch/", {"kind": "switch"}, JSON)
    assert (answer.status_code, answer.json()["state"], answer.json()["families"]) == (200, "waiting", [4])
    assert api.post(f"{at}switch/", {"kind": "switch"}, JSON).status_code == 409
    assert api.post(f"{at}switch/", {"kind": "jump"}, JSON).status_code == 400


def test_the_command_says_what_keeps_a_gateway_from_switching(network: factories.Network) -> None:
    with pytest.raises(CommandError, match="nat-1 has not told its roles yet"):
        call_command("gateway", "switch", "nat-1", stdout=io.StringIO())
    output = io.StringIO()
    call_command("gateway", "roles", stdout=output)
    assert "nat-1 does not tell its roles" in output.getvalue()
