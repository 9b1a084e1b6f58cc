"""Decisions about rollouts in a browser: an approval, and a trial that counts down and is reverted. The gateways are in memory."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from playwright.sync_api import Page, expect

from apps.deployments.models import HeldBack
from apps.deployments.rollouts import rollout_store
from apps.deployments.services import reconcile
from apps.nat.models import PortForward
from firewall.rollout import RolloutEvent
from tests import factories
from tests.db.conftest import served_network
from tests.db.rollout_rows import forward, open_rollout
from tests.web.conftest import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole")]

__all__ = ["served_network"]


def test_a_second_person_finds_what_waits_and_approves_it(served_network: factories.Network, page: Page) -> None:
    served_network.group.removal_least = 3
    served_network.group.save()
    for port in range(7001, 7007):
        forward(served_network, port)
    assert reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        PortForward.objects.filter(public_port__in=range(7001, 7006)).delete()
    reconcile(served_network.group, by=served_network.admin.pk)
    factories.user("jonas")

    sign_in(page, "jonas")
    page.get_by_role("link", name="5 removals wait for a second person").click()
    expect(page.get_by_role("link", name="Resident of m1")).to_be_visible()
    page.get_by_label("Type 5 to approve").fill("4")
    page.get_by_role("button", name="Approve 5 removals").click()
    expect(page.get_by_label("Type 5 to approve")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Type 5 to approve").fill("5")
    page.get_by_role("button", name="Approve 5 removals").click()
    expect(page.get_by_text("Approved. It goes out in a moment")).to_be_visible()
    assert HeldBack.objects.get().state == HeldBack.State.APPROVED


def test_a_trial_counts_down_and_is_taken_back(served_network: factories.Network, page: Page) -> None:
    assert reconcile(served_network.group)
    forward(served_network, 7001)
    lease = open_rollout(served_network)
    rollout_store.record_event(
        lease, RolloutEvent.COMMITTED, committed=Now(), goes_back=Now() + timedelta(seconds=90), sent_octets=4100, commit_ms=3
    )

    sign_in(page)
    page.goto(f"/rollouts/{lease.rollout.pk}/")
    expect(page.locator("#countdown-says")).to_contain_text("nat-2 is on trial.")
    seconds = page.locator("[data-seconds]")
    first = int(seconds.inner_text())
    expect(seconds).not_to_have_text(str(first))
    assert int(seconds.inner_text()) < first <= 90

    page.get_by_role("link", name="Go back now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("nat-2 goes back to")
    expect(dialog).to_contain_text("nat-1 is not touched")
    dialog.get_by_role("button", name="Go back now").click()
    expect(page.get_by_text("Stop requested.")).to_be_visible()

    rollout_store.record_event(lease, RolloutEvent.FAILED, error="The rollout was stopped.")
    rollout_store.record_event(lease, RolloutEvent.WENT_BACK, error="The rollout was stopped.")
    expect(page.get_by_text("nat-2 applied it and has gone back")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
