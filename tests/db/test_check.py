"""The page “Is it me or the network?”: where the fault is, in which words, and that a ticket carries exactly what was shown."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.templatetags.static import static
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.bans.blocks.services import block_member
from apps.deployments.models import GatewayState
from apps.deployments.rollouts.probing import ProbeResult
from apps.deployments.services import reconcile
from apps.desk.connection_check import report as report_
from apps.desk.connection_check.finding import FaultOrigin
from apps.desk.connection_check.report import build_report
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.nat.models import NatMapping
from apps.nat.services import map_address
from apps.network.models import Gateway, Holding
from apps.tickets.models import Ticket
from apps.traffic.models import FairShare
from apps.traffic.rates.services import limit_member
from firewall.probe_messages import ECHOES
from tests import factories
from tests.db.page_client import HTMX, queries, signed_in, text


def find_fault(network: factories.Network, host: str = "m1") -> tuple[FaultOrigin, str]:
    """Return where the report sees the fault, and its first line."""
    member = Member.objects.select_related("tariff").get(pk=network.residents[host].member.pk)
    told = build_report(member, timezone.now(), own=True)
    return told.verdict.fault, told.verdict.title


def answers(network: factories.Network, **changes: Any) -> None:
    """Record that both gateways answered just now, as after a deploy."""
    for gateway in network.gateways:
        GatewayState.objects.update_or_create(gateway=gateway, defaults={"seen": timezone.now()} | changes)


def test_on_gateways_that_run_it_the_network_is_fine(served_network: factories.Network) -> None:
    assert find_fault(served_network)[0] is FaultOrigin.NETWORK  # not deployed yet
    assert reconcile(served_network.group)
    answers(served_network)
    fault, line = find_fault(served_network)
    assert (fault, line) == (FaultOrigin.NONE, "The network is fine as far as we can see, and your address is active")
    told = build_report(served_network.residents["m1"].member, timezone.now(), own=True)
    words = {each.title: each.words for each in told.findings}
    holding = served_network.residents["m1"].holding
    assert words[holding.address].startswith("Leaves as 198.51.100.7. Active on nat-1 since ")
    assert ", nat-2 since " in words[holding.address]
    assert "confirmed" in words["Last change of the rules"]
    assert "Gateway nat-1, IPv4 primary" in words

    # A gateway in reserve may be silent; one that packets pass through may not.
    Gateway.objects.filter(name="nat-2").update(carries6=False)
    Gateway.objects.filter(name="nat-1").update(carries6=True)
    silent = {"unreachable_since": timezone.now() - timedelta(minutes=5)}
    GatewayState.objects.filter(gateway__name="nat-2").update(**silent)
    assert find_fault(served_network)[0] is FaultOrigin.NONE
    GatewayState.objects.filter(gateway__name="nat-1").update(**silent)
    assert find_fault(served_network) == (FaultOrigin.NETWORK, "It is us: nat-1 does not answer")
    GatewayState.objects.update(unreachable_since=None)

    # A rate limit is the connection's cause, a full uplink the network's.
    who = Member.objects.get(pk=served_network.residents["m1"].member.pk)
    limit_member(member=who, up_kbit=1000, down_kbit=5000, reason="other", note="", until=None, by=served_network.admin)
    assert find_fault(served_network) == (FaultOrigin.LIMIT, "It is your connection: its rate is limited")
    FairShare.objects.create(group=served_network.group, on=True, since=timezone.now())
    assert find_fault(served_network) == (FaultOrigin.NETWORK, "It is us: the line to the internet is full")


def test_a_gateway_that_answers_and_passes_no_packet_is_the_networks_fault(served_network: factories.Network) -> None:
    """nat-1 carries IPv4, nat-2 IPv6."""
    assert reconcile(served_network.group)
    answers(served_network)
    first, other = served_network.gateways
    fine = tuple(ProbeResult(family, True, 1.5, "it answered.", echoes=ECHOES, full_size=True) for family in (4, 6))
    lost = tuple(ProbeResult(family, False, None, "no answer.", echoes=0, full_size=False) for family in (4, 6))
    for gateway in (first, other):
        factories.store_probe(gateway, fine, timezone.now())
    assert find_fault(served_network)[0] is FaultOrigin.NONE
    assert say_packets(served_network) == {
        "IPv4 packets through nat-1": "They come back: median 1.5 ms, 0 of the last 5 packets lost.",
        "IPv6 packets through nat-2": "They come back: median 1.5 ms, 0 of the last 5 packets lost.",
    }
    for _ in range(2):
        factories.store_probe(other, (lost[0], fine[1]), timezone.now())
    assert find_fault(served_network)[0] is FaultOrigin.NONE, "a standby through which nothing of this family passes"
    for _ in range(2):
        factories.store_probe(first, lost, timezone.now())
    assert find_fault(served_network) == (FaultOrigin.NETWORK, "It is us: no IPv4 packet comes back from the internet")


def test_packets_of_which_some_are_lost_are_the_networks_fault_too(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    answers(served_network)
    for number in range(12):
        results = tuple(ProbeResult(family, True, 1.5, "", echoes=ECHOES - (number % 2), full_size=True) for family in (4, 6))
        factories.store_probe(served_network.gateways[0], results, timezone.now())
    assert find_fault(served_network) == (FaultOrigin.NETWORK, "It is us: IPv4 packets are lost, or take long")


def test_what_no_fresh_probe_has_shown_is_said_to_be_unknown(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    answers(served_network)
    assert set(say_packets(served_network).values()) == {"It is not tried whether they pass."}
    results = tuple(ProbeResult(family, True, 1.5, "", echoes=ECHOES, full_size=True) for family in (4, 6))
    factories.store_probe(served_network.gateways[0], results, timezone.now() - timedelta(minutes=5))
    broken = ProbeResult(6, False, None, "no prober.", is_conclusive=False)
    for _ in range(2):
        factories.store_probe(served_network.gateways[1], (results[0], broken), timezone.now())
    said = say_packets(served_network)
    assert said["IPv4 packets through nat-1"].startswith("Not known: last tried ")
    assert said["IPv6 packets through nat-2"] == "Not known at present: the test itself does not work."
    assert find_fault(served_network)[0] is FaultOrigin.NONE


def say_packets(network: factories.Network) -> dict[str, str]:
    """Return what the report of a member says of packets, by title."""
    told = build_report(network.residents["m1"].member, timezone.now(), own=True)
    return {each.title: each.words.replace("\u202f", " ") for each in told.findings if each.name == "packets"}


def test_an_address_that_only_a_gateway_lacks_through_which_it_does_not_pass_is_no_fault(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    answers(served_network)
    before = dict(GatewayState.objects.values_list("gateway__name", "snapshot"))
    resident = served_network.residents["m1"]
    map_address(holding=resident.holding, public=resident.mapping.public + 3, by=served_network.admin)
    assert reconcile(served_network.group)
    after = dict(GatewayState.objects.values_list("gateway__name", "snapshot"))
    for lacking, fault in (("nat-2", FaultOrigin.NONE), ("nat-1", FaultOrigin.NETWORK)):  # IPv4 passes through nat-1
        for name in after:
            GatewayState.objects.filter(gateway__name=name).update(snapshot=(before if name == lacking else after)[name])
        assert find_fault(served_network)[0] is fault, lacking


@pytest.mark.parametrize(
    ("state", "line"),
    [("pending", "the membership is not active yet"), ("left", "the membership has ended")],
)
def test_a_membership_that_is_not_active_is_the_connections_own(network: factories.Network, state: str, line: str) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(state=state)
    assert find_fault(network) == (FaultOrigin.CONNECTION, f"It is your connection: {line}")


def test_without_an_address_or_a_way_out_of_the_network_it_is_the_connection(network: factories.Network) -> None:
    resident = network.residents["m1"]
    NatMapping.objects.filter(pk=resident.mapping.pk).delete()
    Holding.objects.filter(pk=resident.prefix.pk).delete()
    assert find_fault(network)[1] == "It is your connection: no address of it leads to the internet"
    Holding.objects.filter(pk=resident.holding.pk).delete()
    assert find_fault(network)[1] == "It is your connection: it has no address"


def test_a_block_comes_first_and_says_what_to_do(network: factories.Network) -> None:
    selin = lives_in(network)
    block_member(member=network.residents["m1"].member, reason="unpaid", by=network.admin)
    page = text(selin.get("/me/check/"))
    assert "It is your connection: it is blocked." in page
    assert "Fix what the reason says, then write to us." in page


def test_an_address_of_a_blocked_member_is_not_called_active(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    answers(served_network)
    member = served_network.residents["m1"].member
    block_member(member=member, reason="unpaid", by=served_network.admin)
    addresses = [each for each in build_report(member, timezone.now(), own=True).findings if each.name == "address"]
    assert addresses and all(each.kind is StateKind.PLAIN for each in addresses)
    assert {each.words for each in addresses} == {"On nat-1, nat-2, but the block lets none of its packets pass."}


def lives_in(network: factories.Network, host: str = "m1") -> Client:
    account = factories.user("selin", staff=False)
    Member.objects.filter(pk=network.residents[host].member.pk).update(user=account)
    return signed_in(account)


def test_the_page_says_from_where_it_was_asked_for(network: factories.Network) -> None:
    selin, address = lives_in(network), network.residents["m1"].holding.address
    assert f"From {address}, over this connection." in text(selin.get("/me/check/", REMOTE_ADDR=address))
    assert "From 198.51.100.7, over this connection." in text(selin.get("/me/check/", REMOTE_ADDR="198.51.100.7"))
    elsewhere = text(selin.get("/me/check/", REMOTE_ADDR="192.0.2.77"))
    assert "From 192.0.2.77, which is not one of these addresses" in elsewhere
    assert "the test addresses are not set up" in elsewhere
    assert queries(selin, "/me/check/") <= 30


def test_a_ticket_carries_exactly_what_was_shown_and_nothing_that_was_forged(
    network: factories.Network, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CHECK_HOSTS = {4: "v4.lindenhof.example", 6: "v6.lindenhof.example"}
    selin = lives_in(network)
    page = selin.get("/me/check/ticket/?ipv4=yes&ipv6=no")
    assert f'data-reach="//v4.lindenhof.example{static("netzwart/reached.svg")}"' in text(selin.get("/me/check/"))
    shown, token = page.context["found"], page.context["token"]
    assert "+ Your browser over IPv4: It reached us." in shown
    assert "! Your browser over IPv6: It did not reach us within 6 s." in shown
    assert "It is us: " in page.context["form"].initial["subject"]
    given = {"subject": "Nothing works", "text": "Since noon."}
    assert selin.post("/me/check/ticket/", given | {"found": f"{token}x"}).status_code == 422
    assert selin.post("/me/check/ticket/", given | {"found": token, "text": ""}).status_code == 422
    noah = factories.user("noah", staff=False)
    Member.objects.filter(pk=network.residents["m2"].member.pk).update(user=noah)
    assert signed_in(noah).post("/me/check/ticket/", given | {"found": token}).status_code == 422, "it was shown to somebody else"
    with monkeypatch.context() as later:
        later.setattr(report_, "KEPT", -1)
        late = selin.post("/me/check/ticket/", given | {"found": token})
        assert late.status_code == 422 and "The check was more than a day old" in text(late)
    assert not Ticket.objects.exists()
    selin.post("/me/check/ticket/", given | {"found": token})
    assert Ticket.objects.get().messages.get().text == f"Since noon.\n\n{shown}"


@pytest.mark.parametrize("first", [{"text": "Since noon."}, {"text": ""}])
def test_a_check_that_was_too_old_is_made_anew_and_shown_and_goes_with_the_ticket(
    network: factories.Network, monkeypatch: pytest.MonkeyPatch, first: dict[str, str]
) -> None:
    selin = lives_in(network)
    given = {"subject": "Nothing works", "text": "Since noon."}
    token = selin.get("/me/check/ticket/").context["token"]
    with monkeypatch.context() as later:
        later.setattr(report_, "KEPT", -1)
        late = selin.post("/me/check/ticket/", given | first | {"found": token})
    shown = late.context["found"]
    assert late.status_code == 422 and "It is us: " in shown and "Sent with the ticket" in text(late)
    selin.post("/me/check/ticket/", given | {"found": late.context["token"]})
    assert Ticket.objects.get().messages.get().text == f"Since noon.\n\n{shown}"


def test_staff_sees_the_same_beside_the_member_and_the_ticket_and_scripts_too(network: factories.Network) -> None:
    staff, pk = signed_in(network.admin), network.residents["m1"].member.pk
    assert f'hx-get="/members/{pk}/check/"' in text(staff.get(f"/members/{pk}/"))
    assert "It is the network: " in text(staff.get(f"/members/{pk}/check/"))
    panel = text(staff.get(f"/members/{pk}/check/", headers=HTMX | {"HX-Target": "check"}))
    assert panel.strip().startswith('<div id="check" ')
    script = Client(headers={"authorization": f"Bearer {tokens.create_token(user=network.admin, name='s')[1]}"})
    told = script.get(f"/api/members/members/{pk}/check/").json()
    assert told["fault"] == "network"
    assert {"membership", "address", "block", "rate", "gateway"} <= {each["name"] for each in told["findings"]}
