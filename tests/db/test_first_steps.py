"""First steps: a list that checks itself, from an empty database to a network that runs."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.deployments.models import GatewayState, RolloutStep
from apps.deployments.rollouts.go_live import go_live
from apps.desk.first_steps.finding import StepFinding
from apps.desk.first_steps.steps import check_steps
from apps.mail.models import Message
from apps.members import site_services, tariff_services
from apps.members.room_names import RoomName
from apps.members.tariff_services import TariffTerms
from apps.network.models import GatewayGroup
from apps.preferences.services import change_settings
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import roll_out

pytestmark = pytest.mark.django_db(transaction=True)


def words_of(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text(response)).split())


def states(user: User) -> dict[str, bool]:
    return {str(each.step.name): each.finding.done for each in check_steps(user).steps}


def test_an_empty_portal_says_on_its_dashboard_where_to_begin() -> None:
    mara = signed_in(factories.user())
    page = words_of(mara.get("/"))
    assert "No gateway runs your network yet" in page
    shown = words_of(mara.get("/setup/"))
    assert "Next: A gateway group." in shown
    assert "Members can get no address." in shown
    assert "NETZWART_MAIL_SERVER is not set" in shown


def test_every_step_is_done_in_any_order_and_undone_when_its_objects_go() -> None:
    mara = factories.user()
    assert not any(states(mara).values()), "not even a password alone is a step that is done"
    tariff = tariff_services.add_tariff(terms=TariffTerms("Standard"), by=mara)
    assert states(mara)["Tariffs"]
    site = site_services.add_site(name="House A", code="A")
    assert not states(mara)["Houses and rooms"]
    site_services.add_rooms(site=site, rooms=[RoomName(0, "001")])
    assert states(mara)["Houses and rooms"]
    group = GatewayGroup.objects.create(name="Lindenhof")
    private = factories.pool(group, "private4", "10.60.0.0/24")
    assert not states(mara)["Pools of addresses"]  # nothing to leave as
    factories.pool(group, "public4", "198.51.100.0/28")
    assert states(mara)["Pools of addresses"]
    factories.make_holding(factories.member(tariff=tariff), private, "10.60.0.11")
    assert states(mara)["Members with addresses"]
    tariff_services.change_tariff_terms(tariff=tariff, version=1, terms=TariffTerms("Standard", offered=False), by=mara)
    assert not states(mara)["Tariffs"]


def test_the_network_is_named_once_it_has_a_name_and_a_contact_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    mara = factories.user()

    def found() -> str:
        return next(each.finding.words for each in check_steps(mara).steps if each.step.name == "The network")

    assert found() == "It is still called Lindenhof."
    change_settings(version=0, values={"network_name": "Haus Linde"}, by=None)
    assert found() == "Haus Linde names no contact yet."
    change_settings(version=1, values={"network_name": None, "contact": "room 12"}, by=None)
    monkeypatch.setenv("NETZWART_NETWORK_NAME", "Lindenhof")
    assert found() == "Lindenhof; room 12"
    assert states(mara)["The network"]


def test_a_gateway_counts_once_it_has_answered(network: factories.Network) -> None:
    assert not states(network.admin)["Gateways"]
    GatewayState.objects.create(gateway=network.gateways[0], seen=timezone.now())
    assert "No answer yet from nat-2." in {each.finding.words for each in check_steps(network.admin).steps}
    GatewayState.objects.create(gateway=network.gateways[1], seen=timezone.now())
    assert states(network.admin)["Gateways"]
    network.gateways[1].delete()
    assert "Only nat-1 answers: nothing stands in for it." in {each.finding.words for each in check_steps(network.admin).steps}


def test_a_confirmed_rollout_ends_the_first_steps_and_a_packet_is_told_apart(network: factories.Network) -> None:
    roll_out(network)
    RolloutStep.objects.update(evidence=[{"what": "session", "passed": True, "ms": 4, "text": ""}])
    GatewayState.objects.update(seen=timezone.now())
    tariff_services.add_tariff(terms=TariffTerms("Fast"), by=None)
    shown = check_steps(network.admin)
    assert shown.next is None
    assert not states(network.admin)["A packet through each gateway"]
    client = signed_in(network.admin)
    assert "Your network runs." in words_of(client.get("/setup/"))
    assert "No gateway runs your network yet" not in words_of(client.get("/"))
    RolloutStep.objects.update(evidence=[{"what": "IPv4", "passed": True, "ms": 2, "text": ""}])
    assert states(network.admin)["A packet through each gateway"]


def test_mail_that_waits_too_long_is_no_done_step(network: factories.Network) -> None:
    Message.objects.create(to="mara@lindenhof.example", subject="Hello", text="", message_id="<1@lindenhof.example>", key="1")
    Message.objects.update(written=timezone.now() - timedelta(hours=1))
    assert any(each.finding.words.startswith("Mail waits in the outbox since") for each in check_steps(network.admin).steps)


def test_the_page_takes_few_queries_and_members_do_not_see_it(network: factories.Network, client: Client) -> None:
    assert queries(signed_in(network.admin), "/setup/") <= 26
    assert signed_in(factories.user("otto", staff=False)).get("/setup/").status_code == 403


def find_finding(user: User, name: str) -> StepFinding:
    return next(each.finding for each in check_steps(user).steps if each.step.name == name)


def test_the_plan_and_going_live_are_steps_that_lead_to_the_plans_page(network: factories.Network) -> None:
    GatewayGroup.objects.filter(pk=network.group.pk).update(live_since=None)
    plan, live = (find_finding(network.admin, name) for name in ("What would be deployed", "Go live"))
    assert plan.words == "4 members with 8 addresses and prefixes, on nat-1, nat-2." and "No answer yet from nat-1, nat-2." in plan.lines
    assert not live.done and live.words == "Lindenhof is not live: nothing is deployed."
    assert plan.url == live.url == f"/rollouts/groups/{network.group.pk}/plan/"
    go_live(group=network.group, by=network.admin)
    assert find_finding(network.admin, "Go live").words.startswith("Lindenhof since ")


def test_the_packets_that_came_back_are_told_by_gateway_and_family_with_their_time(network: factories.Network) -> None:
    roll_out(network)
    probes = [{"what": family, "passed": family == "IPv4", "ms": 2, "text": ""} for family in ("IPv4", "IPv6")]
    RolloutStep.objects.update(evidence=probes)
    found = find_finding(network.admin, "A packet through each gateway")
    assert [line.rpartition(" at ")[0] for line in found.lines] == ["nat-1, IPv4: came back", "nat-2, IPv4: came back"]
