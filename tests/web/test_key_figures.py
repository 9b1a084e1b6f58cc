"""Key figures of a gateway: in German, too, none runs into the next one."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from apps.gateways.packet_probes.models import ProbeStatus
from tests import factories
from tests.health_situations import build_counters, store_reading
from tests.web.conftest import signed_in

pytestmark = [pytest.mark.browser]
WIDTHS = range(320, 1400, 60)  # CSS pixels, from a phone to a desktop
FITS = "value => value.getBoundingClientRect().right <= value.closest('.nw-figure').getBoundingClientRect().right + 0.5"


def test_words_in_place_of_a_figure_stay_in_their_column(chromium: Browser, live_server: LiveServer, network: factories.Network) -> None:
    gateway, now = network.gateways[0], timezone.now()
    for ago in (20, 0):
        at = now - timedelta(seconds=ago)
        store_reading(gateway, build_counters(10_000 - ago, at.timestamp()), at)
    for family in (4, 6):
        ProbeStatus.objects.create(gateway=gateway, family=family, at=now, state="lost", since=now, failures=9, text="refused.")
    page = signed_in(chromium, live_server, network.admin, locale="de-DE").new_page()
    page.goto(f"/gateways/{gateway.pk}/")
    expect(page.locator("#health").get_by_text("keine Antwort").first).to_be_visible()
    expect(page.locator("#packets")).to_contain_text("abgelehnt.")
    values = page.locator("#health .nw-figure > dd > b")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert [(width, each.inner_text()) for each in values.all() if not each.evaluate(FITS)] == []
    page.context.close()
