"""Members' own pages: what they say, what members may open for themselves, and that nothing of others is to be had."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from apps.bans.blocks.services import block
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.nat import own, services
from apps.nat.models import NatMapping, PortForward
from apps.nat.selectors import forwards_of
from apps.network.models import Holding
from tests import rows
from tests.db.pages import queries, signed_in, text


def lives_in(network: rows.Network, host: str = "m1") -> Client:
    """The resident, signed in."""
    account = rows.user(f"resident-{host}", staff=False)
    Member.objects.filter(pk=network.residents[host].member.pk).update(user=account)
    return signed_in(account)


def opened(network: rows.Network, host: str = "m1", port: int = 8443) -> PortForward:
    """What the administrators opened for the resident."""
    holding = network.residents[host].holding
    return services.add_forward(holding=holding, public=rows.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def typed(network: rows.Network, host: str = "m1", **changes: Any) -> dict[str, Any]:
    given = {
        "protocol": "tcp",
        "public_port": "8443",
        "holding": network.residents[host].holding.pk,
        "private_port": "",
        "public": "198.51.100.7",
    }
    return {f"forward-{name}": value for name, value in (given | changes).items()}


def ask(client: Client, network: rows.Network, **changes: Any) -> HttpResponse:
    response = client.post("/me/ports/open/", typed(network, **changes))
    assert isinstance(response, HttpResponse)
    return response


def test_members_land_on_their_own_page_and_nowhere_else(network: rows.Network) -> None:
    selin = lives_in(network)
    assert selin.get("/").headers["Location"] == "/me/"
    assert "You are connected" in text(selin.get("/me/"))
    assert selin.get("/members/").status_code == 403


def test_who_has_not_signed_in_is_asked_to(network: rows.Network, client: Client) -> None:
    assert client.get("/me/").headers["Location"] == "/account/login/?next=/me/"


def test_an_account_without_a_membership_is_told_what_to_do(network: rows.Network) -> None:
    response = signed_in(rows.user("guest", staff=False)).get("/me/")
    assert response.status_code == 404
    assert "No membership belongs to this account" in text(response)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"state": "pending"}, "Your membership waits for an administrator to activate it."),
        ({"state": "left"}, "Your membership has ended"),
    ],
)
def test_the_line_of_truth_says_why_somebody_is_not_connected(network: rows.Network, changes: dict[str, Any], line: str) -> None:
    selin = lives_in(network)
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(**changes)
    assert line in text(selin.get("/me/"))


def test_who_leaves_as_nothing_is_told_so(network: rows.Network) -> None:
    selin, resident = lives_in(network), network.residents["m1"]
    Holding.objects.filter(pk=resident.prefix.pk).delete()
    NatMapping.objects.filter(pk=resident.mapping.pk).delete()
    page = text(selin.get("/me/"))
    assert "You reach this network, not the internet" in page
    assert "You have no public IPv4 address, so there is no port to open." in page


def test_who_is_blocked_sees_the_reason_the_message_and_whom_to_ask_and_no_note(network: rows.Network) -> None:
    selin = lives_in(network)
    rows.servers(network)
    block(member=network.residents["m1"].member, reason="infected", message="Your laptop sends spam.", note="third time", by=network.admin)
    page = text(selin.get("/me/"))
    assert "Your internet access is blocked" in page
    assert "One of your devices seems to be infected with malware" in page
    assert "Your laptop sends spam." in page
    assert "Ask: netzwart@lindenhof.example." in page
    assert "third time" not in page
    assert "Mara" not in page


def test_a_member_opens_a_port_and_reads_that_it_is_on_its_way(network: rows.Network) -> None:
    selin = lives_in(network)
    page = text(selin.post("/me/ports/open/", typed(network, purpose="Nextcloud"), follow=True))
    assert "Nextcloud" in page
    assert "On its way to the gateways" in page
    made = forwards_of(network.residents["m1"].member).get()
    assert (made.public_port, made.private_port, made.purpose) == (8443, 8443, "Nextcloud")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"public_port": "443"}, "Ports below 1024 are opened by the administrators."),
        ({"public_port": "5000-5040"}, "41 ports at once are opened by the administrators. Choose up to 20."),
        ({"public": "198.51.100.99"}, "198.51.100.99 is not one of the available choices."),
        ({"public_port": "nonsense"}, "“nonsense” is no port and no range."),
    ],
)
def test_what_is_not_for_members_is_refused_at_its_field(network: rows.Network, changes: dict[str, Any], sentence: str) -> None:
    response = ask(lives_in(network), network, **changes)
    assert response.status_code == 422
    assert sentence in text(response)
    assert not PortForward.objects.exists()


def test_a_taken_port_is_refused_without_a_name_and_with_a_free_one(network: rows.Network) -> None:
    opened(network, "m2")
    page = text(ask(lives_in(network), network))
    assert "TCP 8443 on 198.51.100.7 is taken already. 8444 is free." in page
    assert "Resident of m2" not in page
    assert '<button class="btn" name="forward-public_port" value="8444">Use 8444</button>' in page


def test_a_tariff_s_number_is_kept(network: rows.Network) -> None:
    tariff = network.residents["m1"].member.tariff
    tariff.most_forwards = 1
    tariff.save()
    opened(network)
    selin = lives_in(network)
    assert "All ports of your tariff are in use." in text(selin.get("/me/"))
    assert "Your tariff has room for 1 port forward, and it is in use." in text(ask(selin, network, public_port="9000"))


def test_nobody_opens_a_port_to_what_another_holds(network: rows.Network) -> None:
    resident, other = network.residents["m1"].member, network.residents["m2"]
    selin = lives_in(network)
    assert ask(selin, network, holding=other.holding.pk).status_code == 422
    with pytest.raises(Problem, match=r"Choose one of your devices\."):
        own.open_port(
            member=resident,
            holding=other.holding,
            public=rows.PUBLIC,
            protocol="tcp",
            public_port=9000,
            private_port=9000,
            by=network.admin,
        )
    assert not PortForward.objects.exists()


@pytest.mark.parametrize("act", ["switch", "close", "reopen"])
def test_another_s_forward_is_not_there(network: rows.Network, act: str) -> None:
    forward = opened(network, "m2")
    services.remove_forward(forward=opened(network, "m2", 9000), by=network.admin)
    selin = lives_in(network)
    for each in PortForward.objects.all():
        assert selin.post(f"/me/ports/{each.pk}/{act}/", {"version": 1, "enabled": "0"}).status_code == 404
    assert str(forward) not in text(selin.get("/me/"))
    forward.refresh_from_db()
    assert (forward.enabled, forward.valid.upper) == (True, None)


def test_a_port_is_switched_off_and_on(network: rows.Network) -> None:
    forward, selin = opened(network), lives_in(network)
    for enabled in (False, True):
        forward.refresh_from_db()
        selin.post(f"/me/ports/{forward.pk}/switch/", {"version": forward.version, "enabled": int(enabled)})
        forward.refresh_from_db()
        assert forward.enabled is enabled


def test_who_was_slower_is_told_and_changes_nothing(network: rows.Network) -> None:
    forward, selin = opened(network), lives_in(network)
    response = selin.post(f"/me/ports/{forward.pk}/switch/", {"version": forward.version + 1, "enabled": "0"})
    assert response.status_code == 422
    assert "Somebody changed or removed this forward" in text(response)


def test_closing_says_what_it_does_and_can_be_undone(network: rows.Network) -> None:
    forward, selin = opened(network), lives_in(network)
    assert "The internet no longer reaches port 443 of 10.16.0.10, within a second." in text(selin.get(f"/me/ports/{forward.pk}/close/"))
    assert "is being closed." in text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert not forwards_of(network.residents["m1"].member).exists()
    selin.post(f"/me/ports/{forward.pk}/reopen/")
    assert forwards_of(network.residents["m1"].member).get().public_port == 8443


def test_a_port_that_only_administrators_open_is_closed_without_an_undo_and_says_so_before(network: rows.Network) -> None:
    forward, selin = opened(network, port=443), lives_in(network)
    assert "only they can open it again." in text(selin.get(f"/me/ports/{forward.pk}/close/"))
    page = text(selin.post(f"/me/ports/{forward.pk}/close/", follow=True))
    assert "is being closed." in page
    assert ">Undo<" not in page
    assert "Ports below 1024" in text(selin.post(f"/me/ports/{forward.pk}/reopen/"))
    assert not forwards_of(network.residents["m1"].member).exists()


@pytest.mark.parametrize("count", [1, 8])
def test_the_page_takes_as_many_queries_for_few_ports_as_for_many(network: rows.Network, count: int) -> None:
    for port in range(count):
        opened(network, port=2000 + port)
    assert queries(lives_in(network), "/me/") <= 21
