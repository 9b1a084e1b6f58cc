"""The page of an open rollout: the trial, pause, resume, rollback, and the state of each gateway."""

import json
import re
import zlib
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import HeldBack, Rollout
from apps.deployments.revision_pages import contents
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.rollout_store import Lease
from firewall.rollout import RolloutCommand, RolloutEvent
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import confirm, open_rollout, roll_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def lease(network: factories.Network) -> Lease:
    """The lease of a rollout in which nat-2 has committed and is on trial for 20 seconds. It ran another revision before."""
    roll_out(network)
    made = open_rollout(network)
    committed: dict[str, Any] = {"committed": Now(), "goes_back": Now() + timedelta(seconds=20), "sent_octets": 4100, "commit_ms": 3}
    rollout_store.record_event(made, RolloutEvent.COMMITTED, **committed)
    return made


def page_of(staff: Client, rollout: Rollout) -> str:
    return text(staff.get(f"/rollouts/{rollout.pk}/"))


def test_a_trial_says_how_long_it_lasts_and_what_happens_then(staff: Client, lease: Lease) -> None:
    rollout_store.add_evidence(lease, "session", passed=False, ms=5003, text="no answer within 5 s")
    page, before = page_of(staff, lease.rollout), lease.rollout.revision_id - 1
    assert f"until nat-2 goes back to r{before} by itself." in page and "Go back now" in page
    left = re.search(r'data-left="(\d+)"', page)
    assert left and 0 < int(left[1]) <= 20
    assert "1 of 3 attempts failed: no answer within 5 s" in page and "1: no answer within 5 s after 5.00\u202fs" in page
    assert 'id="countdown-says" aria-live="polite"' in page and "nat-2 goes back in 10 seconds" in page


def test_each_way_of_proof_is_said_with_its_time(staff: Client, lease: Lease, network: factories.Network) -> None:
    rollout_store.add_evidence(lease, "knock", passed=True, ms=4.2, text="")
    rollout_store.record_probe_passed(lease)
    rollout_store.record_event(lease, RolloutEvent.CONFIRMED, confirmed=Now(), flows_cut=2, evidence=lease.step.evidence)
    page = page_of(staff, lease.rollout)
    assert "sshd answered a new connection in 4.2\u202fms" in page and "2 flows cut" in page
    rollout_store.record_event(lease, RolloutEvent.COMMITTED, committed=Now(), sent_octets=10)
    rollout_store.add_evidence(lease, "session", passed=False, ms=100, text="away")
    rollout_store.add_evidence(lease, "session", passed=True, ms=280, text="")
    rollout_store.add_evidence(lease, "IPv4", passed=True, ms=1.3, text="")
    rollout_store.record_probe_passed(lease)
    rollout_store.record_event(lease, RolloutEvent.CONFIRMED, confirmed=Now(), evidence=lease.steps[1].evidence)
    assert "new session in 0.28\u202fs, after 1 failed attempt, IPv4 passed in 1.3\u202fms" in page_of(staff, lease.rollout)


NOT_FORWARDED = (
    "IPv4: 192.0.2.1 port 80 cannot be reached through nat-1: timed out. No packet of the probe was forwarded: check the forward chain."
)


def test_a_packet_that_did_not_pass_is_no_attempt_in_vain_and_says_why(staff: Client, lease: Lease) -> None:
    for _gateway in lease.steps:
        rollout_store.add_evidence(lease, "knock", passed=True, ms=150, text="")
        rollout_store.add_evidence(lease, "IPv4", passed=False, ms=None, text=NOT_FORWARDED)
        assert "ailed attempt" not in page_of(staff, lease.rollout)
        rollout_store.record_probe_passed(lease)
        rollout_store.record_event(lease, RolloutEvent.CONFIRMED, confirmed=Now(), evidence=lease.step.evidence)
        if lease.command is not RolloutCommand.FINISH:
            rollout_store.record_event(lease, RolloutEvent.COMMITTED, committed=Now(), sent_octets=10)
    page = page_of(staff, lease.rollout)
    assert f"sshd answered a new connection in 0.15\u202fs. {NOT_FORWARDED}" in page and "ailed attempt" not in page
    assert "Confirmed, a probe failed" in page
    assert "Confirmed, a probe failed" in text(staff.get("/rollouts/"))
    assert NOT_FORWARDED in text(staff.get("/")) and "no rollout failed" not in text(staff.get("/"))


def test_going_back_says_first_what_it_does_to_each_gateway(staff: Client, lease: Lease) -> None:
    page = text(staff.get(f"/rollouts/{lease.rollout.pk}/stop/"))
    before = lease.rollout.revision_id - 1
    assert f"nat-2 goes back to r{before} now." in page and f"nat-1 is not touched; it runs r{before}." in page
    assert "Stop requested." in text(staff.post(f"/rollouts/{lease.rollout.pk}/stop/", follow=True))
    lease.rollout.refresh_from_db()
    assert lease.rollout.wish == "abort"
    page = page_of(staff, lease.rollout)
    assert "Then the rollout stops, as requested by Mara Lindqvist." in page and ">Go back now<" not in page


def test_a_pause_can_be_taken_back(staff: Client, lease: Lease) -> None:
    staff.post(f"/rollouts/{lease.rollout.pk}/pause/")
    assert "It pauses before the next gateway." in page_of(staff, lease.rollout)
    staff.post(f"/rollouts/{lease.rollout.pk}/resume/")
    assert "A pause takes effect before the next gateway." in page_of(staff, lease.rollout)
    assert staff.get(f"/rollouts/{lease.rollout.pk}/pause/").status_code == 405


def test_a_paused_rollout_says_who_paused_it(staff: Client, lease: Lease, network: factories.Network) -> None:
    staff.post(f"/rollouts/{lease.rollout.pk}/pause/")
    rollout_store.record_probe_passed(lease)
    rollout_store.record_event(lease, RolloutEvent.CONFIRMED, confirmed=Now())
    assert lease.command is RolloutCommand.REST
    page = page_of(staff, lease.rollout)
    assert "Mara Lindqvist has paused the rollout." in page and "Next: nat-1." in page and "Resume" in page


def test_a_gateway_that_reverted_shows_what_runs_and_what_to_do(staff: Client, lease: Lease) -> None:
    rollout_store.record_event(lease, RolloutEvent.FAILED, error="It could not be reached after the change.")
    rollout_store.record_event(lease, RolloutEvent.WENT_BACK, error="It went back: to what was confirmed.")
    page, before = page_of(staff, lease.rollout), lease.rollout.revision_id - 1
    assert f"nat-2 applied it and has gone back, because it was not confirmed. It runs r{before}." in page
    assert "Find out why it could not be reached, then try again." in page
    assert "nat-1 was skipped: what fails on one gateway is not tried on the next." in page


@pytest.mark.parametrize(("harmless", "advice"), [(True, "it gets the missing changes by itself"), (False, "This change affects rules")])
def test_a_lost_gateway_is_tried_again_only_if_nothing_but_elements_changed(
    staff: Client, lease: Lease, network: factories.Network, harmless: bool, advice: str
) -> None:
    Rollout.objects.filter(pk=lease.rollout.pk).update(harmless=harmless)
    rollout_store.record_event(lease, RolloutEvent.LOST)
    rollout_store.record_event(lease, RolloutEvent.LOST, error="It stopped answering in the middle.")
    if lease.command is RolloutCommand.APPLY:
        confirm(lease, compute_desired_state(network.group))
    page = page_of(staff, lease.rollout)
    assert "nat-2 stopped answering during the change. Either it has confirmed, or it goes back by itself" in page and advice in page


def test_what_somebody_types_to_approve_is_not_swept_away_by_the_rollout(staff: Client, lease: Lease, network: factories.Network) -> None:
    def now(seen: str) -> str:
        return text(staff.get(f"/rollouts/{lease.rollout.pk}/now/?seen={seen}"))

    seen = page_of(staff, lease.rollout).partition("/now/?seen=")[2].partition('"')[0]
    rollout_store.add_evidence(lease, "session", passed=False, ms=5003, text="no answer within 5 s")
    moved = now(seen)
    assert 'id="progress" hx-swap-oob' in moved and 'id="waits"' not in moved
    seen = moved.partition("/now/?seen=")[2].partition('"')[0]
    packed = zlib.compress(json.dumps({"nat-1": [{"port": 22}, {"port": 2222}]}).encode())
    HeldBack.objects.create(group=network.group, kind="management", digest="a" * 64, removed=1, of=2, packed=packed)
    assert 'id="waits" hx-swap-oob' in now(seen)


def test_a_finished_rollout_cannot_be_stopped(staff: Client, network: factories.Network) -> None:
    over = roll_out(network)
    assert f"{over} is over already" in text(staff.get(f"/rollouts/{over.pk}/stop/"))
    assert "is over already" in text(staff.post(f"/rollouts/{over.pk}/stop/", follow=True))


def test_the_way_back_is_to_what_every_gateway_confirmed(staff: Client, lease: Lease) -> None:
    rollout_store.record_event(lease, RolloutEvent.FAILED, error="It could not be reached after the change.")
    rollout_store.record_event(lease, RolloutEvent.WENT_BACK, error="It went back.")
    confirmed = Rollout.objects.filter(state=Rollout.State.CONFIRMED).latest("pk")
    assert "Go back to" not in page_of(staff, lease.rollout), "nothing is kept of it yet"
    contents.store_whole_content(confirmed.revision, {})
    assert f"/rollouts/revisions/{confirmed.revision_id}/back/" in page_of(staff, lease.rollout)


def test_only_staff_decides(network: factories.Network, lease: Lease) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert {guest.post(f"/rollouts/{lease.rollout.pk}/{what}/").status_code for what in ("stop", "pause", "resume")} == {403}
    lease.rollout.refresh_from_db()
    assert lease.rollout.wish == ""
