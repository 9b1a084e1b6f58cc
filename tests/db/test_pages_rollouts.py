"""Pages of rollouts: the list, one rollout, and the request for one."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.observed_state import navigation_status
from apps.deployments.revision_pages import delta_text
from apps.deployments.rollouts import progress, rollout_store
from apps.deployments.rollouts.rollout_driver import record_agent_progress
from firewall import wire
from firewall.rollout import RolloutEvent
from tests import factories
from tests.db.page_client import text
from tests.db.rollout_rows import open_rollout, roll_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(network: factories.Network, client: Client) -> Client:
    client.force_login(network.admin)
    return client


@pytest.fixture
def roll(network: factories.Network) -> Callable[..., Rollout]:
    """A function that makes a rollout: confirmed, or stopped with an error at one gateway, or left open."""

    return partial(roll_out, network)


def test_only_staff_sees_rollouts(network: factories.Network, client: Client) -> None:
    assert client.get("/rollouts/").status_code == 302
    client.force_login(factories.user("guest", staff=False))
    assert client.get("/rollouts/").status_code == 403
    assert client.post("/rollouts/deploy/").status_code == 403


def test_an_empty_list_says_what_will_stand_there(staff: Client) -> None:
    assert "Nothing has been rolled out yet" in text(staff.get("/rollouts/"))


def test_the_list_says_what_changed_and_where(staff: Client, roll: Callable[..., Rollout]) -> None:
    made = roll()
    page = text(staff.get("/rollouts/"))
    assert f"r{made.revision.pk}" in page and "addresses added" in page and "Mara Lindqvist" in page
    assert "nat-1 and nat-2 run" in page or "nat-2 and nat-1 run" in page


def test_the_list_filters_by_state(staff: Client, roll: Callable[..., Rollout]) -> None:
    roll()
    assert "No matching rollout" in text(staff.get("/rollouts/?state=failed"))
    assert staff.get("/rollouts/?state=%00&page=x").status_code == 200


def test_a_rollout_shows_each_step_with_its_evidence(staff: Client, roll: Callable[..., Rollout]) -> None:
    page = text(staff.get(f"/rollouts/{roll().pk}/"))
    assert (
        page.count("Confirmed in") == 2
        and "4.10\u202fkB" in page
        and "3\u202fms" in page
        and "read back and identical in under 1\u202fms" in page
    )
    assert "In memory" in page and "/now/?seen=" not in page


def test_a_refusal_says_what_to_do(staff: Client, roll: Callable[..., Rollout]) -> None:
    page = text(staff.get(f"/rollouts/{roll(error='digest <b>differs</b>').pk}/"))
    assert "digest &lt;b&gt;differs" in page and "nat-1 refused it. Nothing changed there." in page
    assert "It is not retried automatically" in page and "Try again" in page


def test_a_gateway_that_does_not_answer_follows_by_itself(staff: Client, roll: Callable[..., Rollout]) -> None:
    page = text(staff.get(f"/rollouts/{roll(error='no answer within 20 s', unreachable=True).pk}/"))
    assert (
        "nat-1 did not answer, so nothing was sent to it." in page and "it gets the missing changes by itself as soon as it answers" in page
    )


def test_an_open_rollout_asks_again_until_it_is_over(staff: Client, roll: Callable[..., Rollout]) -> None:
    made = roll(leave_open=True)
    page = text(staff.get(f"/rollouts/{made.pk}/"))
    assert "every 1s" in page
    seen = page.partition("/now/?seen=")[2].partition('"')[0]
    assert staff.get(f"/rollouts/{made.pk}/now/?seen={seen}").status_code == 204
    made.steps.update(state=RolloutStep.State.CONFIRMED, confirmed=timezone.now())
    Rollout.objects.filter(pk=made.pk).update(state=Rollout.State.CONFIRMED, finished=timezone.now())
    last = text(staff.get(f"/rollouts/{made.pk}/now/?seen={seen}"))
    assert "every 1s" not in last and 'id="changes" hx-swap-oob' in last and "<html" not in last


def test_try_again_forces_and_names_who_asked(
    staff: Client, network: factories.Network, roll: Callable[..., Rollout], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("apps.lib.enqueue.send_task", lambda *sent: asked.append(sent))
    made = roll(error="refused")
    assert staff.get(f"/rollouts/{made.pk}/again/").status_code == 405
    assert "Retry requested" in text(staff.post(f"/rollouts/{made.pk}/again/", follow=True))
    staff.post("/rollouts/deploy/")
    assert asked[-2:] == [("workers.reconcile", network.admin.pk, True), ("workers.reconcile", network.admin.pk, False)]


def test_the_delta_comes_as_it_is_kept(staff: Client, roll: Callable[..., Rollout]) -> None:
    response = staff.get(f"/rollouts/{roll().pk}/delta/")
    assert response["Content-Type"].startswith("text/plain") and response["Content-Disposition"].startswith("attachment")
    assert text(response).startswith("add table inet netzwart")


def test_what_is_not_there_is_not_found(staff: Client) -> None:
    assert [staff.get(f"/rollouts/{pk}/{rest}").status_code for pk in (404, 10**20) for rest in ("", "now/", "delta/")] == [404] * 6


def test_the_top_bar_says_what_runs(staff: Client, network: factories.Network, roll: Callable[..., Rollout]) -> None:
    assert "on both gateways, in memory only, no packets" in text(staff.get(f"/rollouts/{roll().pk}/"))
    GatewayState.objects.filter(gateway=network.gateways[0]).update(unreachable_since=timezone.now())
    assert "nat-1 does not answer" in text(staff.get("/rollouts/"))
    opened = roll(leave_open=True)
    assert f"<b>{opened}</b>" in text(staff.get("/rollouts/")) and "applying on nat-2" in text(staff.get("/rollouts/"))


def test_the_top_bar_asks_again_and_is_told_nothing_while_all_is_as_it_was(staff: Client, roll: Callable[..., Rollout]) -> None:
    path, page = "/rollouts/running/", text(staff.get(f"/rollouts/{roll().pk}/"))
    seen = page.partition(f'hx-get="{path}?seen=')[2].partition('"')[0]
    assert len(seen) == 16 and staff.get(path, {"seen": seen}).status_code == 204
    opened = roll(leave_open=True)
    part = text(staff.get(path, {"seen": seen}))
    assert part.startswith('<span class="nw-running-now" id="running"') and f"<b>{opened}</b>" in part and seen not in part


def test_the_top_bar_comes_with_the_first_gateway_that_answers(staff: Client, roll: Callable[..., Rollout]) -> None:
    assert 'hx-get="/rollouts/running/?seen="' in text(staff.get("/rollouts/"))
    assert staff.get("/rollouts/running/", {"seen": ""}).status_code == 204
    roll()
    assert "on both gateways" in text(staff.get("/rollouts/running/", {"seen": ""}))


def test_a_failed_rollout_asks_for_somebody(network: factories.Network, roll: Callable[..., Rollout], rf: Any) -> None:
    roll(error="refused")
    count = navigation_status.build_navigation_count(rf.get("/"))
    assert count and (count.number, count.asks) == (1, True)
    roll()
    count = navigation_status.build_navigation_count(rf.get("/"))
    assert count and count.number == 0


def test_queries_do_not_grow_with_rows(staff: Client, roll: Callable[..., Rollout]) -> None:
    def asked(path: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert staff.get(path).status_code == 200
        return len(queries)

    made = [roll() for _ in range(3)]
    staff.get("/")  # the first page of a session writes to the database
    few = asked("/rollouts/"), asked(f"/rollouts/{made[0].pk}/")
    for _ in range(12):
        roll()
    assert (asked("/rollouts/"), asked(f"/rollouts/{made[0].pk}/")) == few


def test_a_delta_is_shown_set_by_set_whatever_its_comments_hold() -> None:
    lines = [
        "add table inet netzwart",
        "delete element inet netzwart bans4_24 { 203.0.113.0 }",
        'add element inet netzwart bans4_24 { 192.0.2.0 comment "a, b } { : c", 198.51.100.0 timeout 60s comment "x" }',
        "add element inet netzwart forward4 { 198.51.100.7 . tcp . 80 : 10.0.0.1 . 80 }",
        "flush chain inet netzwart input",
        'add rule inet netzwart input iifname "lo" accept comment "loop, back"',
        "add element inet netzwart down4 { 10.0.0.1, 10.0.0.2, 10.0",
    ]
    shown = delta_text.build_excerpt("\n".join(lines), 2)
    assert shown.groups[0] == (
        "set bans4_24",
        "+2 \u22121, first 2 shown",
        [("\u2212", "203.0.113.0/24", ""), ("+", "192.0.2.0/24", "a, b } { : c")],
    )
    assert shown.groups[1][0] == "map forward4" and shown.groups[2][0] == "set down4"
    assert shown.groups[3] == ("chain input", "1 rule, rewritten", [("+", 'iifname "lo" accept', "loop, back")])
    assert (shown.total, shown.shown) == (8, 6)


def test_a_gateway_that_works_for_long_says_on_the_page_what_it_does_and_how_far_it_is(staff: Client, network: factories.Network) -> None:
    lease = open_rollout(network)
    before = progress.compute_stamp(lease.rollout)
    assert rollout_store.record_agent_progress(lease, "loading", 120_000, 700_000) is None
    page = text(staff.get(f"/rollouts/{lease.rollout.pk}/"))
    assert "loads, 120,000 of 700,000 elements (reported at " in page
    assert progress.compute_stamp(Rollout.objects.get(pk=lease.rollout.pk)) != before, "the page that is open shows it too"
    rollout_store.record_event(lease, RolloutEvent.COMMITTED, committed=Now())
    assert "700,000" not in text(staff.get(f"/rollouts/{lease.rollout.pk}/"))


def test_what_a_gateway_says_that_it_does_may_be_anything(staff: Client, network: factories.Network) -> None:
    lease = open_rollout(network)
    rollout_store.record_agent_progress(lease, "<b>" * 100, -5, 10**30)
    page = text(staff.get(f"/rollouts/{lease.rollout.pk}/"))
    assert "<b><b>" not in page
    assert "works" in page


def test_a_sign_of_life_that_cannot_be_kept_ends_nothing(network: factories.Network) -> None:
    lease = open_rollout(network)
    assert record_agent_progress(lease, wire.Beat("\0")) is None
    assert record_agent_progress(lease, wire.Beat("loading", 1, 2)) is None
    assert RolloutStep.objects.get(pk=lease.step.pk).doing == "loading"


def test_whoever_drives_it_hears_that_a_person_wants_it_stopped_while_a_gateway_works(network: factories.Network) -> None:
    lease = open_rollout(network)
    rollout_store.record_requested_event(lease.rollout, RolloutEvent.ABORT, by=network.admin)
    assert rollout_store.record_agent_progress(lease, "loading", 1, 2) is RolloutEvent.ABORT


@pytest.mark.parametrize("before", [0.001, 0.6, 1.4, 3600])
def test_a_rollout_has_never_taken_less_than_nothing(network: factories.Network, before: float) -> None:
    """The page's time may be before the rollout's beginning: reading took long, or the worker's clock differs."""
    rollout = open_rollout(network).rollout
    assert progress.render_duration(rollout, rollout.created - timedelta(seconds=before)) == "0\u202fms so far"
