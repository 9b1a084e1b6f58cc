"""Members' own pages: what they say, what members may open for themselves, and that they show nothing of other members."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from apps.bans.blocks.services import block_member
from apps.lib.errors import Problem
from apps.members.models import Device, Member, Tariff
from apps.nat import own_forwards, services
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.nat.pinholes.services import add_pinhole, switch_pinhole
from apps.nat.rules.models import PortRules
from apps.nat.selectors import list_member_forwards
from apps.network.models import Holding
from tests import factories
from tests.db.page_client import queries, signed_in, text


def lives_in(network: factories.Network, host: str = "m1") -> Client:
    """Return a client in which the resident is signed in."""
    account = factories.user(f"resident-{host}", staff=False)
    Member.objects.filter(pk=network.residents[host].member.pk).update(user=account)
    return signed_in(account)


def open_port(network: factories.Network, host: str = "m1", port: int = 8443) -> PortForward:
    """Open a port for the resident as an administrator."""
    holding = network.residents[host].holding
    return services.add_forward(
        holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin
    )


def build_form(network: factories.Network, host: str = "m1", **changes: Any) -> dict[str, Any]:
    given = {
        "protocol": "tcp",
        "public_port": "8443",
        "holding": network.residents[host].holding.pk,
        "private_port": "",
        "public": "198.51.100.7",
    }
    return {f"forward-{name}": value for name, value in (given | changes).items()}


def ask(client: Client, network: factories.Network, **changes: Any) -> HttpResponse:
    response = client.post("/me/ports/open/", build_form(network, **changes))
    assert isinstance(response, HttpResponse)
    return response


def test_members_land_on_their_own_page_and_nowhere_else(network: factories.Network) -> None:
    selin = lives_in(network)
    assert selin.get("/").headers["Location"] == "/me/"
    assert "You are connected" in text(selin.get("/me/"))
    assert selin.get("/members/").status_code == 403


def test_who_has_not_signed_in_is_asked_to(network: factories.Network, client: Client) -> None:
    assert client.get("/me/").headers["Location"] == "/account/login/?next=/me/"


def test_an_account_without_a_membership_is_told_what_to_do(network: factories.Network) -> None:
    response = signed_in(factories.user("guest", staff=False)).get("/me/")
    assert response.status_code == 404
    assert "No membership belongs to this account" in text(response)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"state": "pending"}, "Your membership waits for an administrator to activate it."),
        ({"state": "left"}, "Your membership has ended"),
    ],
)
def test_the_line_of_truth_says_why_somebody_is_not_connected(network: factories.Network, changes: dict[str, Any], line: str) -> None:
    selin = lives_in(network)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(**changes)
    assert line in text(selin.get("/me/"))


def test_a_member_without_a_public_address_is_told_so(network: factories.Network) -> None:
    selin, resident = lives_in(network), network.residents["m1"]
    Holding.objects.filter(pk=resident.prefix.pk).delete()
    NatMapping.objects.filter(pk=resident.mapping.pk).delete()
    page = text(selin.get("/me/"))
    assert "You reach this network, not the internet" in page
    assert "You have no public IPv4 address, so there is no port to open." in page


def test_who_is_blocked_sees_the_reason_the_message_and_whom_to_ask_and_no_note(network: factories.Network) -> None:
    selin = lives_in(network)
    factories.servers(network)
    block_member(
        member=network.residents["m1"].member, reason="infected", message="Your laptop sends spam.", note="third time", by=network.admin
    )
    page = text(selin.get("/me/"))
    assert "Your internet access is blocked" in page
    assert "One of your devices seems to be infected with malware" in page
    assert "Your laptop sends spam." in page
    assert "Contact: netzwart@lindenhof.example." in page
    assert "third time" not in page
    assert "Mara" not in page


def test_a_member_opens_a_port_and_reads_that_it_is_on_its_way(network: factories.Network) -> None:
    selin = lives_in(network)
    page = text(selin.post("/me/ports/open/", build_form(network, purpose="Nextcloud"), follow=True))
    assert "Nextcloud" in page
    assert "On its way to the gateways" in page
    made = list_member_forwards(network.residents["m1"].member).get()
    assert (made.public_port, made.private_port, made.purpose) == (8443, 8443, "Nextcloud")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"public_port": "443"}, "Ports below 1024 are opened by the administrators."),
        ({"public_port": "5000-5040"}, "41 ports at once are opened by the administrators. Choose up to 20."),
        ({"public": "198.51.100.99"}, "198.51.100.99 is not one of the available choices."),
        ({"public_port": "nonsense"}, "“nonsense” is neither a port nor a range."),
    ],
)
def test_what_is_not_for_members_is_refused_at_its_field(network: factories.Network, changes: dict[str, Any], sentence: str) -> None:
    response = ask(lives_in(network), network, **changes)
    assert response.status_code == 422
    assert sentence in text(response)
    assert not PortForward.objects.exists()


def test_a_taken_port_is_refused_without_a_name_and_with_a_free_one(network: factories.Network) -> None:
    open_port(network, "m2")
    page = text(ask(lives_in(network), network))
    assert "TCP 8443 on 198.51.100.7 is taken already. 8444 is free." in page
    assert "Resident of m2" not in page
    assert '<button class="btn" name="forward-public_port" value="8444">Use 8444</button>' in page


def test_a_tariff_s_number_is_kept(network: factories.Network) -> None:
    tariff = network.residents["m1"].member.tariff
    tariff.most_forwards = 1
    tariff.save()
    open_port(network)
    selin = lives_in(network)
    assert "All ports of your tariff are in use." in text(selin.get("/me/"))
    assert "Your tariff has room for 1 port forward, and it is in use." in text(ask(selin, network, public_port="9000"))


def test_nobody_opens_a_port_to_what_another_holds(network: factories.Network) -> None:
    resident, other = network.residents["m1"].member, network.residents["m2"]
    selin = lives_in(network)
    assert ask(selin, network, holding=other.holding.pk).status_code == 422
    with pytest.raises(Problem, match=r"Choose one of your devices\."):
        own_forwards.open_port(
            member=resident,
            holding=other.holding,
            public=factories.PUBLIC,
            protocol="tcp",
            public_port=9000,
            private_port=9000,
            by=network.admin,
        )
    assert not PortForward.objects.exists()


@pytest.mark.parametrize("act", ["switch", "close", "reopen"])
def test_another_s_forward_is_not_there(network: factories.Network, act: str) -> None:
    forward = open_port(network, "m2")
    services.remove_forward(forward=open_port(network, "m2", 9000), by=network.admin)
    selin = lives_in(network)
    for each in PortForward.objects.all():
        assert selin.post(f"/me/ports/{each.pk}/{act}/", {"version": 1, "enabled": "0"}).status_code == 404
    assert str(forward) not in text(selin.get("/me/"))
    forward.refresh_from_db()
    assert (forward.enabled, forward.valid.upper) == (True, None)


def test_a_port_is_switched_off_and_on(network: factories.Network) -> None:
    forward, selin = open_port(network), lives_in(network)
    for enabled in (False, True):
        forward.refresh_from_db()
        selin.post(f"/me/ports/{forward.pk}/switch/", {"version": forward.version, "enabled": int(enabled)})
        forward.refresh_from_db()
        assert forward.enabled is enabled


def test_switching_an_outdated_forward_is_refused_with_the_reason(network: factories.Network) -> None:
    forward, selin = open_port(network), lives_in(network)
    response = selin.post(f"/me/ports/{forward.pk}/switch/", {"version": forward.version + 1, "enabled": "0"})
    assert response.status_code == 422
    assert "This port forward was changed or removed by someone else" in text(response)


def test_closing_says_what_it_does_and_can_be_undone(network: factories.Network) -> None:
    forward, selin = open_port(network), lives_in(network)
    assert "Within a second, the internet no longer reaches port 443 of 10.16.0.10." in text(selin.get(f"/me/ports/{forward.pk}/close/"))
    assert "is being closed." in text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert not list_member_forwards(network.residents["m1"].member).exists()
    selin.post(f"/me/ports/{forward.pk}/reopen/")
    assert list_member_forwards(network.residents["m1"].member).get().public_port == 8443


def test_opening_a_port_can_be_undone_until_it_was_changed(network: factories.Network) -> None:
    selin = lives_in(network)
    page = text(selin.post("/me/ports/open/", build_form(network), follow=True))
    forward = PortForward.objects.get()
    undo = f'<form class="d-inline-block" method="post" action="/me/ports/{forward.pk}/close/"'
    assert undo in page
    assert undo not in text(selin.post(f"/me/ports/{forward.pk}/switch/", {"version": 1, "enabled": "0"}, follow=True))
    assert "is being closed." in text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert not list_member_forwards(network.residents["m1"].member).exists()


def test_what_was_off_stays_off_when_closing_is_undone(network: factories.Network) -> None:
    forward, selin = open_port(network), lives_in(network)
    selin.post(f"/me/ports/{forward.pk}/switch/", {"version": forward.version, "enabled": "0"})
    selin.post(f"/me/ports/{forward.pk}/close/")
    selin.post(f"/me/ports/{forward.pk}/reopen/")
    assert not list_member_forwards(network.residents["m1"].member).get().enabled


def test_a_port_that_only_administrators_open_is_closed_without_an_undo_and_says_so_before(network: factories.Network) -> None:
    forward, selin = open_port(network, port=443), lives_in(network)
    assert "Only the administrators can open it again." in text(selin.get(f"/me/ports/{forward.pk}/close/"))
    page = text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert "is being closed." in page
    assert ">Undo<" not in page
    assert "Ports below 1024" in text(selin.post(f"/me/ports/{forward.pk}/reopen/"))
    assert not list_member_forwards(network.residents["m1"].member).exists()


@pytest.mark.django_db(transaction=True)
def test_a_port_that_the_administrators_switched_off_is_not_opened_again_by_closing_it() -> None:
    network = factories.network()
    forward, selin = open_port(network), lives_in(network)
    with factories.written_by(network.admin):
        own_forwards.switch_forward(forward=forward, version=forward.version, enabled=False, by=network.admin)
    assert "Only the administrators can open it again." in text(selin.get(f"/me/ports/{forward.pk}/close/"))
    page = text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert "is being closed." in page and ">Undo<" not in page
    refused = [selin.post(f"/me/ports/{forward.pk}/reopen/"), ask(selin, network), ask(selin, network, public_port="8440-8445")]
    ask(selin, network, public_port="8444", private_port="8444")
    beside = list_member_forwards(network.residents["m1"].member).get()
    selin.post(f"/me/ports/{beside.pk}/close/")
    refused.append(ask(selin, network, public_port="8443-8444"))
    for answer in refused:
        assert answer.status_code == 422 and "The administrators switched this off." in text(answer)
    assert not list_member_forwards(network.residents["m1"].member).exists()

    selin.post(f"/me/ports/{open_port(network).pk}/close/")
    assert ask(selin, network).status_code == 302, "the administrators have opened it since"


@pytest.mark.parametrize("count", [1, 8])
def test_the_page_takes_as_many_queries_for_few_ports_as_for_many(network: factories.Network, count: int) -> None:
    for port in range(count):
        open_port(network, port=2000 + port)
    assert queries(lives_in(network), "/me/") <= 32


# --- Devices


def test_a_member_notes_changes_and_removes_devices_within_the_tariff(network: factories.Network) -> None:
    selin, who = factories.user("selin", staff=False), network.residents["m1"].member
    Member.objects.filter(pk=who.pk).update(user=selin)
    Tariff.objects.update(most_devices=2)
    own, foreign = signed_in(selin), Device.objects.get(member=network.residents["m2"].member)
    page = own.post("/me/devices/", {"name": "Phone", "mac": "02-00-5E-00-53-AA"}, follow=True)
    assert "Phone" in text(page) and "02:00:5e:00:53:aa" in text(page) and "Register" not in text(page)
    full = own.post("/me/devices/", {"name": "Third", "mac": "02:00:5e:00:53:ab"})
    assert full.status_code == 422 and "Your tariff allows 2 devices" in text(full)
    phone = Device.objects.get(name="Phone")
    for mac in (foreign.mac, "01:00:5e:00:00:01", "00:00:00:00:00:00", "nonsense"):
        answer = own.post(f"/me/devices/{phone.pk}/", {"name": "Phone", "mac": mac})
        assert answer.status_code == 422
        assert "Resident of m2" not in text(answer) and foreign.name not in text(answer)
    assert own.post(f"/me/devices/{phone.pk}/", {"name": "Tablet", "mac": "02:00:5e:00:53:ac"}).status_code == 302
    assert own.get(f"/me/devices/{foreign.pk}/").status_code == 404
    assert own.post(f"/me/devices/{foreign.pk}/remove/").status_code == 404
    assert "Remove Tablet?" in text(own.get(f"/me/devices/{phone.pk}/remove/"))
    assert own.post(f"/me/devices/{phone.pk}/remove/").status_code == 302
    assert list(Device.objects.filter(member=who).values_list("name", flat=True)) == ["Laptop of m1"]
    Member.objects.filter(pk=who.pk).update(state="left")
    assert "has ended" in text(own.post("/me/devices/", {"name": "Late", "mac": "02:00:5e:00:53:ad"}))


# --- Ports that a group lets members open


def test_a_group_says_which_ports_members_open_and_a_free_one_is_offered(network: factories.Network) -> None:
    own_page, mara, path = lives_in(network), signed_in(network.admin), f"/forwards/rules/{network.group.pk}/"
    sent = {"version": "0", "lowest": "2000", "longest": "3", "forbidden": "2000-2002, 2005"}
    assert mara.post(path, sent | {"forbidden": "2000, http"}).status_code == 422
    assert mara.post(path, sent).status_code == 302
    assert mara.post(path, sent).status_code == 422, "somebody else was faster"
    assert PortRules.objects.get().forbidden == [2000, 2001, 2002, 2005]
    assert "2000-2002, 2005" in text(mara.get(path))
    too_low = own_page.post("/me/ports/open/", build_form(network, public_port="1999"))
    assert "Ports below 2000" in text(too_low) and "Use 2003" in text(too_low)
    forbidden = own_page.post("/me/ports/open/", build_form(network, public_port="2001"))
    assert "Members may not open port 2001 here" in text(forbidden) and "Use 2003" in text(forbidden)
    assert "Choose up to 3" in text(own_page.post("/me/ports/open/", build_form(network, public_port="3000-3003")))
    open_port(network, "m2", port=2003)
    open_port(network, "m2", port=2004)
    taken = own_page.post("/me/ports/open/", build_form(network, public_port="2003"))
    assert "Use 2006" in text(taken) and "Resident of m2" not in text(taken), "2005 is forbidden"
    assert own_page.post("/me/ports/open/", build_form(network, public_port="2006")).status_code == 302


# --- Pinholes


def test_a_member_opens_switches_closes_and_reopens_pinholes_in_the_own_prefix(network: factories.Network) -> None:
    selin, who = lives_in(network), network.residents["m1"]
    Tariff.objects.update(most_forwards=2)
    sent = {"pinhole-protocol": "tcp", "pinhole-port": "22", "pinhole-address": "::10", "pinhole-purpose": "ssh", "pinhole-until": ""}
    page = selin.post("/me/pinholes/", sent, follow=True)
    pinhole = Pinhole.objects.get()
    assert (pinhole.holding, pinhole.address, pinhole.port) == (who.prefix, who.prefix.prefix.network_address + 0x10, 22)
    assert "TCP 22" in text(page)
    undo = f'<form class="d-inline-block" method="post" action="/me/pinholes/{pinhole.pk}/close/"'
    assert undo in text(page)
    PortRules.objects.create(group=network.group, forbidden=[25], longest=5)
    refused = {
        "25": "Members may not open port 25 here",
        "6000-6010": "Choose up to 5",
        "": "open all ports at once",
        "22": "open on",
    }
    for port, why in refused.items():
        answer = selin.post("/me/pinholes/", sent | {"pinhole-port": port})
        assert answer.status_code == 422 and why in text(answer), port
    other = str(network.residents["m2"].prefix.prefix.network_address + 5)
    assert selin.post("/me/pinholes/", sent | {"pinhole-port": "80", "pinhole-address": other}).status_code == 422
    off = {"version": pinhole.version, "enabled": "0"}
    assert undo not in text(selin.post(f"/me/pinholes/{pinhole.pk}/switch/", off, follow=True))
    assert selin.post(f"/me/pinholes/{pinhole.pk}/switch/", off).status_code == 422, "a second tab"
    assert "You can undo this." in text(selin.get(f"/me/pinholes/{pinhole.pk}/close/"))
    closed = selin.post(f"/me/pinholes/{pinhole.pk}/close/", follow=True)
    assert "Undo" in text(closed)
    assert "is back, and still switched off" in text(selin.post(f"/me/pinholes/{pinhole.pk}/reopen/", follow=True))
    assert selin.post("/me/pinholes/", sent | {"pinhole-port": "443"}).status_code == 302
    assert "room for 2 pinholes" in text(selin.post("/me/pinholes/", sent | {"pinhole-port": "444"}))
    foreign = add_pinhole(
        holding=network.residents["m2"].prefix, address=network.residents["m2"].prefix.prefix[1], protocol="tcp", port=1, by=network.admin
    )
    for action in ("switch", "close", "reopen"):
        assert selin.post(f"/me/pinholes/{foreign.pk}/{action}/", {"version": "1"}).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_a_pinhole_that_the_administrators_switched_off_is_not_opened_again_by_closing_it() -> None:
    network = factories.network()
    selin, prefix = lives_in(network), network.residents["m1"].prefix
    made = add_pinhole(
        holding=prefix, address=prefix.prefix.network_address + 0x10, protocol="tcp", port=8022, ports=1, purpose="", by=network.admin
    )
    with factories.written_by(network.admin):
        switch_pinhole(pinhole=made, version=made.version, enabled=False, by=network.admin)
    assert "Only the administrators can open it again." in text(selin.get(f"/me/pinholes/{made.pk}/close/"))
    page = text(selin.post(f"/me/pinholes/{made.pk}/close/", follow=True))
    assert "is being closed." in page and ">Undo<" not in page
    sent = {"pinhole-protocol": "tcp", "pinhole-port": "8020-8025", "pinhole-address": "::10", "pinhole-purpose": "", "pinhole-until": ""}
    for answer in (selin.post(f"/me/pinholes/{made.pk}/reopen/", follow=True), selin.post("/me/pinholes/", sent)):
        assert "The administrators switched this off." in text(answer)
    assert not Pinhole.objects.filter(enabled=True).exists() and Pinhole.objects.count() == 1
    assert selin.post("/me/pinholes/", sent | {"pinhole-protocol": "udp"}).status_code == 302, "another one"
