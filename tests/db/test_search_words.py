"""The search of the top bar finds objects by the words and numbers that people remember."""

from collections.abc import Callable
from ipaddress import ip_address, ip_network

import pytest
from django.db import connection
from django.db.models import Model, QuerySet
from django.test import Client

from apps.accounts.models import User
from apps.bans.models import Ban, BanList
from apps.deployments.models import Revision
from apps.members.models import Device, Member, Room, Site
from apps.members.selectors import search_devices, search_members
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from apps.tickets.services import open_ticket
from tests import factories
from tests.db.page_client import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def mara(network: factories.Network) -> Client:
    resident = network.residents["m1"]
    member = resident.member
    member.name, member.email = "Selin Kaya", "selin@lindenhof.example"
    member.room = Room.objects.create(site=Site.objects.create(name="House Q", code="Q"), floor=2, name="214")
    member.save()
    Device.objects.filter(member=member).update(name="Fairphone")
    add_forward(
        holding=resident.holding,
        public=factories.PUBLIC,
        protocol="tcp",
        public_port=51413,
        private_port=51413,
        purpose="Nextcloud",
        by=network.admin,
    )
    Ban.objects.create(
        list=BanList.objects.create(name="Own"), prefix=ip_network("203.0.113.66/32"), comment="phishing page that asks for passwords"
    )
    return signed_in(network.admin)


def list_found(client: Client, text: str) -> list[str]:
    """Return name, note and URL of the results, or the address that the search redirected to."""
    response = client.get("/search", {"q": text})
    if response.status_code == 302:
        return [response["Location"]]
    return [f"{hit.name} {hit.note} {hit.url}" for group in response.context["groups"] for hit in group.hits]


@pytest.mark.parametrize(
    "text", ["Kaya Selin", "Q214", "q 214", "Q-214", "selin@lindenhof.example", "Fairphone", "Nextcloud", "10.16.0.10"]
)
def test_a_member_is_found_by_what_is_known_of_the_member(mara: Client, network: factories.Network, text: str) -> None:
    path = f"/members/{network.residents['m1'].member.pk}/"
    assert any(path in each for each in list_found(mara, text)), text


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Zeynep Öztürk", ["ozturk", "Ozturk Zeynep", "öztürk", "ÖZTÜRK"]),
        ("José Guzmán", ["Guzman", "jose guzman", "Guzmán"]),
        ("Łukasz Weiß", ["lukasz", "Weiss", "WEISS LUKASZ"]),
        ("Ada Lindqvist", ["Ädá"]),
    ],
)
def test_a_member_is_found_with_and_without_accents(mara: Client, name: str, texts: list[str]) -> None:
    member = factories.member(name)
    for text in texts:
        assert list_found(mara, text) == [f"/members/{member.pk}/"], text


def test_a_name_is_looked_up_in_an_index(network: factories.Network) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "member_name_search" in search_members(Member.objects.order_by(), "guzman").explain()


def test_an_account_is_found_without_accents(mara: Client) -> None:
    account = factories.user("zeynep")
    User.objects.filter(pk=account.pk).update(first_name="Zeynep", last_name="Öztürk")
    assert any(f"/account/people/{account.pk}/" in each for each in list_found(mara, "ozturk"))


@pytest.mark.parametrize("text", ["10.16.0", "10.16.0."])
def test_the_beginning_of_an_address_finds_who_holds_one_in_it(mara: Client, text: str) -> None:
    assert any("Selin Kaya" in each for each in list_found(mara, text))


@pytest.mark.parametrize("text", ["198.51.100.7 51413", "198.51.100.7:51413", "tcp 51413", "51413"])
def test_a_forward_is_found_however_its_port_is_written(mara: Client, network: factories.Network, text: str) -> None:
    path = f"/members/{network.residents['m1'].member.pk}/#forwards"
    assert any(path in each for each in list_found(mara, text))


@pytest.mark.parametrize("written", ["ticket {0}", "Ticket {0}", "#{0}"])
def test_a_ticket_is_found_by_its_number_with_or_without_the_word(mara: Client, network: factories.Network, written: str) -> None:
    ticket = open_ticket(subject="Switch in house B", text="It is broken.", member=network.residents["m1"].member, by=network.admin)
    assert list_found(mara, written.format(ticket.pk)) == [f"/tickets/{ticket.pk}/"]


@pytest.mark.parametrize("written", ["5e:00:53:00", "5E-00-53-00", "5e00.5300", "5e005300"])
def test_a_part_of_a_mac_address_finds_the_device_however_it_is_written(mara: Client, written: str) -> None:
    assert any("Fairphone" in each for each in list_found(mara, written))


@pytest.mark.parametrize(
    ("index", "searched"),
    [
        ("device_name_search", lambda: Device.objects.filter(name__icontains="phone")),
        ("device_mac_search", lambda: search_devices("5e:00:53:00")),
        ("device_name_search", lambda: search_devices("5e:00:53:00")),
        ("portforward_purpose_search", lambda: PortForward.objects.filter(purpose__icontains="cloud")),
        ("pinhole_purpose_search", lambda: Pinhole.objects.filter(purpose__icontains="cloud")),
        ("ban_comment_search", lambda: Ban.objects.filter(comment__icontains="phishing")),
    ],
)
def test_words_are_looked_up_in_an_index(network: factories.Network, index: str, searched: Callable[[], QuerySet[Model]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert index in searched().order_by().explain()


def test_a_ban_is_found_by_its_comment(mara: Client) -> None:
    assert any("203.0.113.66" in each for each in list_found(mara, "phishing"))


def test_a_port_of_an_address_finds_the_pinholes_that_let_it_in_behind_ten_others(mara: Client, network: factories.Network) -> None:
    holding = network.residents["m1"].prefix
    host = ip_address(str(holding.prefix[7]))
    ports = [(each, 1) for each in (*range(20, 32), 444)] + [(440, 4)]
    for port, many in ports:
        add_pinhole(holding=holding, address=host, protocol="tcp", port=port, ports=many, by=network.admin)
    add_pinhole(holding=holding, address=host, protocol="udp", by=network.admin)
    found = [each for each in list_found(mara, f"[{host}]:443") if str(host) in each and "#pinholes" in each]
    assert [each.partition(" on ")[0] for each in found] == ["TCP 440–443", "UDP, all ports"]


def test_gateways_revisions_and_accounts_are_found_by_name(mara: Client, network: factories.Network) -> None:
    revision = Revision.objects.create(group=network.group, snapshot="1:1:")
    assert list_found(mara, "nat-1") == [f"/gateways/{network.group.gateways.get(name='nat-1').pk}/"]
    assert list_found(mara, str(revision)) == [f"/rollouts/revisions/{revision.pk}/"]
    assert any("/account/people/" in each for each in list_found(mara, network.admin.username))


def test_a_word_of_one_ticket_shows_results_and_does_not_jump(mara: Client, network: factories.Network) -> None:
    member = network.residents["m2"].member
    open_ticket(subject="WireGuard does not connect", text="Since today.", member=member, by=network.admin)
    assert mara.get("/search", {"q": "WireGuard"}).status_code == 200
