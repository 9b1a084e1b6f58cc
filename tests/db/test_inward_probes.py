"""Connections from outside to the probes: results are stored, and the dashboard and the gateway's page say what they have shown."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.deployments.rollouts.probing import InwardResult, ProbeResult
from apps.desk.needs.collection import list_attention_items
from apps.gateways.packet_probes.judgement import IN_A_ROW
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.rounds import RoundPosition, read_rounds
from apps.network.models import Gateway
from firewall.probe_messages import ECHOES, Connected, InwardSeen, ProbeRound, ProbesRead, TargetSeen
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_packet_probes import COUNTED, LOST4, PASSED, answering
from tests.db.test_pages_dashboard import rollout, runs, title

SECOND = timedelta(seconds=1)
CAME_IN = InwardResult(True, "IPv4: it connected in 0.8 ms.")
KEPT_OUT = InwardResult(False, "IPv4: it cannot connect: no answer within 1000 ms.")
NOT_ASKED = InwardResult(None, "IPv4: the responder at 203.0.113.10 port 7077: connection refused.")


@pytest.fixture
def mara(network: factories.Network) -> Client:
    runs(network, rollout(network))
    for gateway in network.gateways:
        store(gateway, CAME_IN)
    return signed_in(network.admin)


def store(gateway: Gateway, inward: InwardResult, times: int = 1, families: tuple[int, ...] = (4, 6)) -> None:
    """Store probes that came back, beside which this was seen of connections from outside; those of other families came in."""
    results = tuple(replace(each, inward=inward if each.family in families else CAME_IN) for each in PASSED)
    for number in reversed(range(times)):
        factories.store_probe(gateway, results, timezone.now() - 2 * number * SECOND)


def list_needs() -> list[str]:
    return [each.what for each in list_attention_items(timezone.now())]


def test_what_does_not_come_in_five_times_in_a_row_is_told_with_whom_it_affects(mara: Client, network: factories.Network) -> None:
    first, other = network.gateways
    store(first, KEPT_OUT, IN_A_ROW - 1, (4,))
    assert list_needs() == []
    store(first, KEPT_OUT, 1, (4,))
    assert list_needs() == ["No IPv4 connection from outside comes in through nat-1"]
    page = text(mara.get("/"))
    assert "Members’ port forwards and pinholes may not be reachable; what they open themselves works." in page
    assert "no answer within 1000 ms. Check the provider’s filters" in page and title(mara) == "1 thing needs you, both gateways forward"
    store(first, CAME_IN)
    store(other, KEPT_OUT, IN_A_ROW, (4,))
    assert list_needs() == ["No IPv4 connection from outside comes in through nat-2"]
    assert "If it took over, members’ port forwards and pinholes might not be reachable." in text(mara.get("/"))


def test_what_comes_in_through_no_gateway_is_one_need_of_the_family(mara: Client, network: factories.Network) -> None:
    for gateway in network.gateways:
        store(gateway, KEPT_OUT, IN_A_ROW, (6,))
    assert list_needs() == ["No IPv6 connection from outside comes in through nat-1 + nat-2"]


def test_a_responder_that_does_not_answer_is_one_need_and_no_fault_of_a_gateway(mara: Client, network: factories.Network) -> None:
    for gateway in network.gateways:
        store(gateway, NOT_ASKED, IN_A_ROW)
    assert list_needs() == ["Nothing shows whether connections from outside come in"]
    assert "port 7077: connection refused. Is the responder running there" in text(mara.get("/"))


def test_while_no_packet_passes_nothing_is_said_about_what_comes_in(mara: Client, network: factories.Network) -> None:
    store(network.gateways[0], KEPT_OUT, IN_A_ROW, (4,))
    for _ in range(2):
        factories.store_probe(network.gateways[0], LOST4, timezone.now())
    assert list_needs() == ["No IPv4 packet comes back through nat-1"]


def test_results_without_a_responder_leave_what_was_seen_until_it_is_old(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    path = f"/gateways/{gateway.pk}/"
    assert "IPv4, from outside" in text(mara.get(path)) and "connections come in" in text(mara.get(path))
    factories.store_probe(gateway, PASSED, timezone.now())
    assert "connections come in" in text(mara.get(path))
    old = timezone.now() - 61 * SECOND
    ProbeStatus.objects.filter(gateway=gateway).update(inward_at=old, inward_answered=old)
    assert "from outside" not in text(mara.get(path))


@pytest.mark.parametrize(
    ("seen", "came", "words"),
    [
        (InwardSeen(Connected(812)), True, "IPv4: 203.0.113.10 connected to 192.0.2.251 port 7077 through nat-1 in 0.8 ms."),
        (
            InwardSeen(Connected(None, "no answer within 1000 ms")),
            False,
            "IPv4: 203.0.113.10 cannot connect to 192.0.2.251 port 7077 through nat-1: no answer within 1000 ms.",
        ),
        (
            InwardSeen(Connected(None, "it does not answer"), asked=False),
            None,
            "IPv4: the responder at 203.0.113.10 port 7077: it does not answer.",
        ),
    ],
)
def test_a_connection_from_outside_is_explained(network: factories.Network, seen: InwardSeen, came: bool | None, words: str) -> None:
    factories.probes(network)
    gateway = network.gateways[0]
    gateway.group.responder_port = 7077
    target = TargetSeen(Connected(900), ECHOES, True, inward=seen)
    answer = ProbesRead("a", (ProbeRound(1, 0, (target, target)),), COUNTED)
    [found] = read_rounds(answering(answer), gateway, RoundPosition(), timezone.now())
    assert found.results[0].inward == InwardResult(came, words)


def test_a_result_without_a_connection_from_outside_says_nothing_about_any(network: factories.Network) -> None:
    factories.store_probe(network.gateways[0], (ProbeResult(4, True, 2.5, "it answered."), PASSED[1]), timezone.now())
    assert list(ProbeStatus.objects.values_list("inward_at", flat=True)) == [None, None]


def test_the_database_refuses_nonsense_about_what_comes_in(network: factories.Network) -> None:
    factories.store_probe(network.gateways[0], PASSED, timezone.now())
    now = timezone.now()
    for wrong in (
        {"inward_answered": now},
        {"inward_failures": 1},
        {"inward_at": now},
        {"inward_at": now, "inward_answered": now - SECOND},
    ):
        with pytest.raises(IntegrityError, match="probestatus_inward"), transaction.atomic():
            ProbeStatus.objects.update(**wrong)
