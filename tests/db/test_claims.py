"""Each sentence of the dashboard about a state needs recent evidence, and is left out without it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.deployments.models import GatewayState
from apps.deployments.rollouts.probing import ProbeResult
from apps.deployments.selectors import map_newest_rollouts
from apps.desk.selectors import claims
from apps.desk.selectors.claims import CLAIMS, DashboardFacts, StatusClaim
from apps.gateways.health.models import HealthFinding
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.selectors import build_overviews, get_max_answer_age, list_gateways
from apps.operations.models import ProcessRole, RoleHeartbeat
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_pages_dashboard import rollout, runs

pytestmark = pytest.mark.django_db
OF_STATES = [claim for claim in CLAIMS if claim.oldest() > timedelta(0)]
FORBIDDEN = ("forward",)  # only the title says so


def facts(age: timedelta = timedelta(0)) -> DashboardFacts:
    """Gather the facts as they look that much later."""
    now = timezone.now() + age
    return claims.gather_facts(build_overviews(list(list_gateways()), now), map_newest_rollouts(), now)


@pytest.fixture
def well(network: factories.Network) -> factories.Network:
    runs(network, rollout(network))
    for gateway in network.gateways:
        factories.store_probe(gateway, [ProbeResult(family, True, 2.5, "It answered.") for family in (4, 6)], timezone.now())
    return network


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda each: each.name)
def test_each_sentence_is_said_while_its_evidence_is_young(claim: StatusClaim, well: factories.Network) -> None:
    said = claim.render_words(facts())
    assert said and not any(word in said for word in FORBIDDEN)


@pytest.mark.parametrize("claim", OF_STATES, ids=lambda each: each.name)
def test_no_sentence_outlives_its_evidence(claim: StatusClaim, well: factories.Network) -> None:
    assert not claim.is_known(facts(claim.oldest() + timedelta(seconds=1)))
    assert claim.render_words(facts(claim.oldest() + timedelta(seconds=1))) == ""


@pytest.mark.parametrize("claim", OF_STATES, ids=lambda each: each.name)
def test_no_sentence_is_said_without_any_evidence(claim: StatusClaim, well: factories.Network) -> None:
    GatewayState.objects.update(seen=None)
    ProbeStatus.objects.all().delete()
    assert claim.render_words(facts()) == ""


@pytest.mark.parametrize("name", ["newest", "untouched"])
def test_what_only_the_deploy_worker_finds_out_is_not_claimed_without_it(name: str, well: factories.Network) -> None:
    claim = next(each for each in CLAIMS if each.name == name)
    RoleHeartbeat.objects.filter(role=ProcessRole.WORKER).update(served=timezone.now() - timedelta(minutes=5))
    assert claim.render_words(facts()) == ""
    assert claim.render_words(replace(facts(), worked=None)) == ""


@pytest.mark.parametrize(("carries", "title"), [(1.0, "both gateways answer"), (0.0, "both gateways forward")])
def test_packets_are_said_to_pass_only_if_nothing_is_found_that_stops_members(well: factories.Network, carries: float, title: str) -> None:
    """A probe does not take the cable to members; that between the gateways carries no packet of theirs."""
    evidence = {"down": "lan0", "missing": "", "carries": carries, "sync": 1.0 - carries}
    now = timezone.now()
    HealthFinding.objects.create(gateway=well.gateways[0], rule="link_down", kind="bad", evidence=evidence, since=now, at=now, times=2)
    assert claims.describe_answering_gateways(facts(), in_memory=False) == title
    assert ("packets pass nat-1 and nat-2" in claims.list_true_claims(facts())) is not bool(carries)


def test_a_primary_that_does_not_answer_is_none(well: factories.Network) -> None:
    GatewayState.objects.filter(gateway__name="nat-1").update(unreachable_since=timezone.now())
    assert "IPv4 and IPv6 each have a primary that answers" not in text(signed_in(well.admin).get("/"))


def test_packets_are_not_said_to_pass_a_gateway_that_does_not_answer(well: factories.Network) -> None:
    GatewayState.objects.filter(gateway__name="nat-1").update(unreachable_since=timezone.now())
    assert not claims.do_packets_pass(facts())


def test_no_evidence_is_older_than_two_turns_of_who_asks() -> None:
    assert get_max_answer_age() <= timedelta(minutes=2)


def test_gateways_that_are_all_out_of_reach_are_one_thing_with_its_likely_reason(well: factories.Network) -> None:
    GatewayState.objects.update(unreachable_since=timezone.now())
    mara: Client = signed_in(well.admin)
    page = text(mara.get("/"))
    assert mara.get("/").context["board"].title == "1 thing needs you, 0 of 2 gateways answer"
    assert "The portal reaches none of the gateways" in page and "own management network" in page
    assert "the gateways may still be forwarding" in page and "keep forwarding" not in page
    assert "no primary that answers" not in page
