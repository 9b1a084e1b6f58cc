"""Input survives the end of a session, and the rest of a page agrees with a change that was just made on it."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.bans.models import BanFeed, BanList
from apps.members.models import Room, Site, Tariff
from apps.nat.pinholes.services import add_pinhole
from apps.network.models import Holding
from apps.status.incidents.services import IncidentFacts, UpdateFacts, open_incident
from apps.traffic.models import RateLimit
from apps.traffic.rates.services import limit_member
from apps.webhooks.services import EndpointFacts, add_webhook
from tests import factories
from tests.announcement_factories import draft
from tests.db.page_client import HTMX, get_form_input, signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def test_a_form_whose_session_ended_shows_what_was_written_and_the_way_back(network: factories.Network) -> None:
    client, written = Client(enforce_csrf_checks=True), "Dear all, the line in house B is down since ten."
    response = client.post(
        "/tickets/new/", {"text": written, "password": "a long secret password"}, headers={"referer": "http://testserver/tickets/new/"}
    )
    page = text(response)
    assert response.status_code == 403
    assert "You were signed out" in page and written in page
    assert "a long secret password" not in page
    assert 'href="/account/login/?next=/tickets/new/"' in page


def test_the_way_back_never_leads_to_another_site(network: factories.Network) -> None:
    page = text(Client(enforce_csrf_checks=True).post("/tickets/new/", headers={"referer": "https://evil.example/lure"}))
    assert "evil.example" not in page and "lure" not in page


@pytest.mark.parametrize(
    ("sent_to", "from_page", "back"),
    [
        ("/tickets/1/change/", "http://testserver/tickets/1/?page=2", "/tickets/1/%3Fpage%3D2"),
        ("/tickets/1/", "http://testserver/tickets/1/", "/tickets/1/"),
        ("/tickets/1/change/", "http://testserver/tickets/1/take/", "/"),  # a page at which signing in would end with "not allowed"
        ("/tickets/1/change/", "https://evil.example/lure", "/"),
        ("/tickets/1/change/", "http://testserver//evil.example/lure", "/"),
        ("/tickets/1/", "", "/tickets/1/"),
    ],
)
def test_a_form_that_was_sent_without_a_session_leads_by_signing_in_to_its_page_and_says_so(
    sent_to: str, from_page: str, back: str, network: factories.Network
) -> None:
    client = Client(headers={"referer": from_page} if from_page else {})
    away = client.post(sent_to, {"text": "Dear all"})
    assert away["Location"] == f"/account/login/?next={back}"
    assert "You were signed out, so nothing was saved." in text(client.get(away["Location"]))


def test_a_page_that_saved_nothing_leads_to_the_login_without_a_warning(network: factories.Network) -> None:
    client = Client()
    away = client.get("/members/?q=kaya", headers={"referer": "http://testserver/tickets/1/"})
    assert away["Location"] == "/account/login/?next=/members/%3Fq%3Dkaya"
    assert "nothing was saved" not in text(client.get(away["Location"]))


@pytest.mark.parametrize("path", ["/members/", "/bans/", "/me/"])
def test_a_fragment_is_not_answered_with_a_sign_in_page(path: str, network: factories.Network) -> None:
    assert Client().get(path, headers={"HX-Request": "true"}).status_code == 401
    assert Client().get(path).status_code == 302


def test_a_ban_that_was_added_is_counted_below_the_list_too(mara: Client, network: factories.Network) -> None:
    banlist = BanList.objects.create(name="Scanners")
    for number in (1, 2):
        answer = text(
            mara.post(f"/bans/{banlist.pk}/add/", {"address": f"203.0.113.{number}", "direction": "both", "term": "never"}, headers=HTMX)
        )
    assert 'id="foot" hx-swap-oob="true"' in answer
    assert "2 of 2" in answer


def test_an_address_that_was_given_or_released_lets_the_rest_of_the_page_ask_again(mara: Client, network: factories.Network) -> None:
    member = network.residents["m1"].member
    given = {"hold-pool": network.private.pk, "hold-prefix": "", "hold-leaves": ""}
    refused = mara.post(f"/members/{member.pk}/addresses/add/", given | {"hold-pool": ""}, headers=HTMX)
    assert (refused.status_code, refused.headers.get("HX-Trigger")) == (422, None)
    answer = mara.post(f"/members/{member.pk}/addresses/add/", given, headers=HTMX)
    assert (answer.status_code, answer.headers.get("HX-Trigger")) == (200, "netzwart:member-changed")
    page = text(mara.get(f"/members/{member.pk}/"))
    for part in ("truth", "forwards", "pinholes", "connection", "history"):
        assert f'id="{part}"' in page, part
    assert 'hx-trigger="netzwart:member-changed from:body"' in page
    newest = Holding.objects.filter(member=member).latest("pk")
    answer = mara.post(f"/holdings/{newest.pk}/release/", headers=HTMX)
    assert (answer.status_code, answer.headers.get("HX-Trigger")) == (200, "netzwart:member-changed")


def test_the_rate_of_a_limited_member_is_changed_in_one_go(mara: Client, network: factories.Network) -> None:
    member = network.residents["m1"].member
    first = limit_member(
        member=member, up_kbit=1000, down_kbit=5000, reason="other", until=timezone.now() + timedelta(days=1), by=network.admin
    )
    page = text(mara.get(f"/limited/member/{member.pk}/"))
    assert "Change the limit" in page and 'value="5"' in page
    given = {"down_kbit": "8", "up_kbit": "1", "reason": "other", "term": "1d", "instead_of": str(first.pk)}
    assert mara.post(f"/limited/member/{member.pk}/", given).status_code == 302
    [now] = [each for each in RateLimit.objects.filter(member=member) if each.valid.upper > timezone.now()]
    assert (now.down_kbit, now.up_kbit) == (8000, 1000)


def test_a_limit_that_somebody_else_set_meanwhile_is_not_replaced_unseen(mara: Client, network: factories.Network) -> None:
    member = network.residents["m1"].member
    limit_member(member=member, up_kbit=1000, down_kbit=5000, reason="other", by=network.admin)
    response = mara.post(f"/limited/member/{member.pk}/", {"down_kbit": "8", "reason": "other", "term": "1d"})
    assert response.status_code == 422
    assert RateLimit.objects.get(member=member).down_kbit == 5000


def build_feed_path(_network: factories.Network) -> str:
    feed = BanFeed.objects.create(list=BanList.objects.create(name="Scanners"), source="https://feeds.example/list")
    return reverse("bans:feed", args=[feed.list_id])


def build_room_path(_network: factories.Network) -> str:
    room = Room.objects.create(site=Site.objects.create(name="House R", code="R"), floor=1, name="101")
    return reverse("members:room", args=[room.pk])


def build_webhook_path(network: factories.Network) -> str:
    facts = EndpointFacts("hook", "https://hooks.example.org/netzwart")
    return reverse("webhooks:edit", args=[add_webhook(facts=facts, by=network.admin)[0].pk])


def build_channel_path(network: factories.Network) -> str:
    facts = ChannelFacts("Matrix", "json://127.0.0.1:9/x", person=network.admin)
    return reverse("alarms:channel", args=[add_channel(facts=facts, by=network.admin).pk])


def build_pinhole_path(network: factories.Network) -> str:
    prefix = network.residents["m1"].prefix
    made = add_pinhole(holding=prefix, address=prefix.prefix[9], protocol="tcp", port=443, by=network.admin)
    return reverse("nat:pinhole-edit", args=[made.pk])


def build_incident_path(network: factories.Network) -> str:
    facts = IncidentFacts(kind="fault", services=["ipv4"], began=timezone.now() - timedelta(hours=1), title_en="Slow")
    first = UpdateFacts(stage="looking", text_en="We are looking.")
    return reverse("status:incident-edit", args=[open_incident(facts=facts, first=first, by=network.admin).pk])


@pytest.mark.parametrize(
    ("build_path", "field", "theirs", "mine"),
    [
        pytest.param(build_feed_path, "comment", "theirs", "mine", id="feed"),
        pytest.param(lambda network: reverse("bans:notice", args=[network.group.pk]), "contact", "theirs", "mine", id="notice"),
        pytest.param(
            lambda _network: reverse("members:site-edit", args=[Site.objects.create(name="House R", code="R").pk]),
            "name", "House S", "House T", id="house",
        ),
        pytest.param(build_room_path, "name", "102", "103", id="room"),
        pytest.param(
            lambda _network: reverse("members:tariff", args=[Tariff.objects.create(name="Guests").pk]),
            "down_kbit", "50", "80", id="tariff",
        ),
        pytest.param(lambda network: reverse("nat:rules", args=[network.group.pk]), "forbidden", "1900", "25, 135-139", id="port rules"),
        pytest.param(lambda network: reverse("rates:uplink", args=[network.group.pk]), "down_kbit", "900", "800", id="uplink"),
        pytest.param(lambda network: reverse("fairshare:edit", args=[network.group.pk]), "down_kbit", "20", "30", id="fair share"),
        pytest.param(lambda network: reverse("gateways:rename", args=[network.gateways[0].pk]), "name", "nat-8", "nat-9", id="gateway"),
        pytest.param(build_webhook_path, "name", "theirs", "mine", id="webhook"),
        pytest.param(build_channel_path, "after_minutes", "5", "10", id="channel"),
        pytest.param(build_incident_path, "title_en", "theirs", "mine", id="incident"),
        pytest.param(lambda network: reverse("network:pool-edit", args=[network.private.pk]), "name", "theirs", "mine", id="pool"),
        pytest.param(build_pinhole_path, "pinhole-purpose", "theirs", "mine", id="pinhole"),
        pytest.param(lambda network: reverse("announcements:edit", args=[draft(network.admin).pk]), "title_en", "a", "b", id="draft"),
    ],
)  # fmt: skip
def test_after_somebody_else_saved_the_form_shows_that_and_the_next_click_saves(
    build_path: Callable[[factories.Network], str], field: str, theirs: str, mine: str, mara: Client, network: factories.Network
) -> None:
    path = build_path(network)
    read = {name: value for name, value in get_form_input(mara.get(path)).items() if value}
    assert mara.post(path, read | {field: theirs}).status_code == 302
    refused = mara.post(path, read | {field: mine})
    assert refused.status_code == 422
    assert re.findall(r"Saved meanwhile: <code>(.*?)</code>", text(refused)) == [theirs]
    shown = {name: value for name, value in get_form_input(refused).items() if value}
    assert shown[field] == mine
    assert mara.post(path, shown).status_code == 302
    assert get_form_input(mara.get(path))[field] == mine
