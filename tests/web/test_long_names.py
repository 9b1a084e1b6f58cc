"""The longest allowed names, without spaces: pages of members and objects are no wider than the window."""

from typing import Any, Final

import pytest
from django.db import models
from playwright.sync_api import Browser, ViewportSize
from pytest_django.live_server_helper import LiveServer

from apps.accounts.models import User
from apps.bans.models import BanList
from apps.members.models import Device, Member, Tariff
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.models import Pool
from apps.tickets import own_tickets as tickets_of_members
from apps.tickets.models import Ticket
from tests import factories
from tests.web.conftest import signed_in
from tests.web.test_every_page import TOO_WIDE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("whole"), pytest.mark.django_db(transaction=True)]

LENGTH: Final = 110
WINDOWS: Final[list[ViewportSize]] = [{"width": 1280, "height": 900}, {"width": 390, "height": 844}]
WRITTEN: Final[dict[type[models.Model], str]] = {
    Member: "name",
    Device: "name",
    Tariff: "name",
    Pool: "name",
    PortForward: "purpose",
    BanList: "name",
    Ticket: "subject",
}
"""Models that have pages, with the field that people write."""


def lengthen() -> None:
    """Give each row the longest allowed name, up to LENGTH characters."""
    for model, name in WRITTEN.items():
        field: Any = model._meta.get_field(name)
        for row in model._default_manager.all():
            end = f"{row.pk}"
            long = ("Donaudampfschifffahrtsgesellschaft" * 4)[: min(LENGTH, field.max_length or LENGTH) - len(end)]
            model._default_manager.filter(pk=row.pk).update(**{name: long + end})


def scene() -> tuple[factories.Network, User]:
    """Return a network with long names, and the account of a member who has one of each object."""
    network = factories.network()
    resident = network.residents["m1"]
    selin = factories.user("selin", staff=False)
    Member.objects.filter(pk=resident.member.pk).update(user=selin)
    add_forward(
        holding=resident.holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, purpose="web", by=network.admin
    )
    BanList.objects.create(name="by hand")
    member = Member.objects.get(pk=resident.member.pk)
    tickets_of_members.open_own_ticket(member=member, subject="Slow", text="It is slow.", files=[], by=selin)
    lengthen()
    return network, selin


def test_no_page_is_wider_than_its_window(chromium: Browser, live_server: LiveServer, settings: Any) -> None:
    settings.REDIS_URL = "unix:///nonexistent/redis.sock"
    network, selin = scene()
    member, ticket, tariff = network.residents["m1"].member.pk, Ticket.objects.get().pk, Tariff.objects.get().pk
    device, forward, banlist = Device.objects.filter(member=member).get().pk, PortForward.objects.get().pk, BanList.objects.get().pk
    staff = [f"/members/{member}/", f"/members/{member}/edit/", f"/members/{member}/check/", f"/members/{member}/leave/", "/members/", "/"]
    staff += [f"/devices/{device}/edit/", f"/forwards/{forward}/edit/", "/forwards/", f"/tariffs/{tariff}/", "/tariffs/", "/search?q=Donau"]
    staff += [f"/bans/{banlist}/", f"/bans/{banlist}/edit/", "/bans/", f"/tickets/{ticket}/", "/tickets/"]
    faults: list[str] = []
    for window in WINDOWS:
        for who, paths in ((network.admin, staff), (selin, ["/me/", f"/me/tickets/{ticket}/"])):
            page = signed_in(chromium, live_server, who, viewport=window, locale="de-DE").new_page()
            for path in paths:
                answer = page.goto(path, wait_until="load", timeout=120_000)
                assert answer is not None
                faults += [f"{window['width']} {path} {answer.status}: {each}" for each in page.evaluate(TOO_WIDE)]
                faults += [f"{path}: {answer.status}"] if answer.status != 200 else []
    assert not faults, "\n".join(faults)
