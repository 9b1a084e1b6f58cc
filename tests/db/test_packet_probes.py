"""Probes between rollouts: results are stored, and the dashboard and the gateway's page say what they have shown, and nothing more."""

import json
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.deployments.models import GatewayState
from apps.deployments.rollouts.probing import ProbeResult
from apps.deployments.transport.agent_channel import AgentChannel
from apps.deployments.transport.relay_program import RelayProgram
from apps.desk.needs.collection import list_attention_items
from apps.gateways.packet_probes.history import KEPT
from apps.gateways.packet_probes.judgement import IN_A_ROW
from apps.gateways.packet_probes.models import LOST, ProbeStatus
from apps.gateways.packet_probes.observation import probe_all_gateways, store_rounds
from apps.gateways.packet_probes.rounds import RoundPosition, read_rounds
from apps.network.models import Gateway
from firewall import wire
from firewall.probe_messages import ECHOES, Connected, ProbeRound, ProbesRead, TargetSeen
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.test_alarms import look_after, subjects
from tests.db.test_pages_dashboard import rollout, runs, title

SECOND = timedelta(seconds=1)
PASSED = (ProbeResult(4, True, 2.5, "IPv4: it answered."), ProbeResult(6, True, 1.5, "IPv6: it answered."))
LOST4 = (ProbeResult(4, False, None, "IPv4: no answer within 1000 ms. Packets out: 3, back: none."), PASSED[1])
COUNTED = {f"probe_{way}{family}": 9 for way in ("up", "down") for family in (4, 6)}
SILENT = "no answer within 1000 ms"
NOTHING, NOT_ACCEPTED = Connected(None, SILENT), Connected(None, "refused")
BROKEN = (ProbeResult(4, False, None, "IPv4: nat-1 cannot probe: no prober.", is_conclusive=False), PASSED[1])


@pytest.fixture
def mara(network: factories.Network) -> Client:
    runs(network, rollout(network))
    return signed_in(network.admin)


def store(gateway: Gateway, results: tuple[ProbeResult, ...], times: int = 2) -> None:
    for number in reversed(range(times)):
        factories.store_probe(gateway, results, timezone.now() - 2 * number * SECOND)


def list_needs() -> list[tuple[str, str]]:
    return [(each.state.kind.value, each.what) for each in list_attention_items(timezone.now())]


def test_gateways_forward_only_while_fresh_probes_came_back_through_all(mara: Client, network: factories.Network) -> None:
    first, other = network.gateways
    assert title(mara) == "Nothing needs you, both gateways answer"
    store(first, PASSED)
    assert title(mara) == "Nothing needs you, both gateways answer"
    store(other, PASSED)
    assert title(mara) == "Nothing needs you, both gateways forward"
    assert "packets pass nat-1 and nat-2" in text(mara.get("/"))
    ProbeStatus.objects.filter(gateway=other, family=6).update(answered=timezone.now() - 11 * SECOND)
    assert title(mara) == "Nothing needs you, both gateways answer"
    assert "packets pass" not in text(mara.get("/"))


def test_a_gateway_that_answers_and_drops_everything_is_seen(mara: Client, network: factories.Network) -> None:
    """nat-1 is the primary of IPv4, nat-2 its standby."""
    first, other = network.gateways
    store(other, PASSED)
    store(first, LOST4, times=1)
    assert list_needs() == []
    factories.store_probe(first, LOST4, timezone.now())
    assert list_needs() == [("bad", "No IPv4 packet comes back through nat-1")]
    page = text(mara.get("/"))
    assert "active members are affected." in page and "Packets out: 3, back: none." in page and "both gateways forward" not in page
    store(first, PASSED, times=1)
    assert list_needs() == []


def test_a_standby_that_would_drop_everything_is_a_warning(mara: Client, network: factories.Network) -> None:
    store(network.gateways[0], PASSED)
    store(network.gateways[1], LOST4)
    assert list_needs() == [("warn", "No IPv4 packet comes back through nat-2")]
    assert "if it took over, members would be without a connection" in text(mara.get("/"))


def test_what_all_gateways_lose_is_one_need_and_one_mail(mara: Client, network: factories.Network) -> None:
    type(network.admin).objects.update(email="mara@lindenhof.example")
    store(network.gateways[0], LOST4)
    look_after(60 * SECOND)
    ProbeStatus.objects.all().delete()
    for gateway in network.gateways:
        store(gateway, LOST4)
    assert list_needs() == [("bad", "No IPv4 packet comes back through any gateway")]
    look_after(60 * SECOND)
    look_after(120 * SECOND)
    assert [each for each in subjects() if not each.startswith("Alarm: No IPv4 packet comes back through")] == []


def test_a_need_that_stands_for_others_names_these_and_no_more(mara: Client, network: factories.Network) -> None:
    for gateway in network.gateways:
        store(gateway, LOST4)
    (need,) = list_attention_items(timezone.now())
    assert need.stands_for == {f"packets-of-{gateway.pk}-4" for gateway in network.gateways}
    GatewayState.objects.update(unreachable_since=timezone.now())
    away = next(each for each in list_attention_items(timezone.now()) if each.key == "away")
    assert away.stands_for == {f"gateway-{gateway.pk}" for gateway in network.gateways}


def test_one_probe_that_was_lost_says_nothing_if_none_came_back_before(mara: Client, network: factories.Network) -> None:
    store(network.gateways[0], PASSED)
    store(network.gateways[1], LOST4, times=1)
    assert title(mara) == "Nothing needs you, both gateways answer"


def test_loss_is_told_with_its_share(mara: Client, network: factories.Network) -> None:
    for results in (LOST4, PASSED, PASSED, LOST4, PASSED, LOST4, PASSED):
        factories.store_probe(network.gateways[0], results, timezone.now())
    assert list_needs() == [("warn", "nat-1 loses IPv4 packets")]
    assert "3 of the last 7 probe packets did not come back." in text(mara.get("/"))


def test_an_outage_that_is_over_is_no_loss(mara: Client, network: factories.Network) -> None:
    store(network.gateways[1], PASSED)
    for results in (PASSED, *[LOST4] * 6, PASSED):
        factories.store_probe(network.gateways[0], results, timezone.now())
    assert list_needs() == []
    assert title(mara) == "Nothing needs you, both gateways forward"


def test_a_probe_that_does_not_work_says_nothing_about_packets(mara: Client, network: factories.Network) -> None:
    store(network.gateways[0], BROKEN)
    store(network.gateways[1], PASSED)
    assert list_needs() == [("warn", "Nothing shows whether IPv4 packets pass nat-1")]
    assert title(mara) == "1 thing needs you, both gateways answer"
    assert ProbeStatus.objects.get(gateway=network.gateways[0], family=4).recent == []


def test_results_are_kept_for_five_minutes_and_the_state_has_its_beginning(network: factories.Network) -> None:
    gateway, began = network.gateways[0], timezone.now()
    for number in range(KEPT + 5):
        factories.store_probe(gateway, PASSED, began + number * SECOND)
    status = ProbeStatus.objects.get(gateway=gateway, family=4)
    assert (len(status.recent), status.recent[0], status.since, status.failures) == (KEPT, 2500, began, 0)
    factories.store_probe(gateway, LOST4, began + 100 * SECOND)
    status.refresh_from_db()
    assert (status.recent[-1], status.since, status.failures) == (LOST, began + 100 * SECOND, 1)


def test_a_family_that_is_no_longer_probed_has_no_result(network: factories.Network) -> None:
    gateway = network.gateways[0]
    store(gateway, PASSED)
    factories.store_probe(gateway, (ProbeResult(4, None, None, "IPv4: not probed."), PASSED[1]), timezone.now())
    assert list(ProbeStatus.objects.values_list("family", flat=True)) == [6]


def test_the_page_of_a_gateway_shows_its_probes(mara: Client, network: factories.Network) -> None:
    path = f"/gateways/{network.gateways[0].pk}/"
    assert "probes through this gateway" not in text(mara.get(path))
    store(network.gateways[0], LOST4)
    page = text(mara.get(path))
    assert "no packet comes back" in page and "Packets out: 3, back: none." in page
    assert (
        "packets pass" in page and "median 1.5\u202fms, 95 of 100 within 1.5\u202fms, slowest 1.5\u202fms, 0 of the last 2 packets" in page
    )


@pytest.mark.django_db(transaction=True)
def test_gateways_that_run_nothing_or_do_not_answer_are_not_probed(served_network: factories.Network) -> None:
    factories.probes(served_network)
    probe_all_gateways()
    assert not ProbeStatus.objects.exists()
    runs(served_network, rollout(served_network))
    GatewayState.objects.filter(gateway__name="nat-2").update(in_memory=True)
    probe_all_gateways()
    status = ProbeStatus.objects.get(family=4)
    assert (status.gateway.name, status.state) == ("nat-1", "unknown") and "cannot probe: this gateway has no prober" in status.text


def test_the_database_refuses_nonsense(network: factories.Network) -> None:
    now = timezone.now()
    for wrong in ({"family": 5}, {"state": "odd"}, {"failures": 1}, {"state": "lost", "failures": 0}, {"answered": None}):
        given = {"family": 4, "state": "passed", "failures": 0, "at": now, "answered": now, "since": now}
        given |= {"gateway": network.gateways[0]} | wrong
        with pytest.raises(IntegrityError), transaction.atomic():
            ProbeStatus.objects.create(**given)


def build_answer(*rounds: tuple[int, int | None], series: str = "a", counted: dict[str, int] | None = COUNTED) -> ProbesRead:
    """Build an agent's answer. rounds: number, and microseconds until the connection; None: nothing came back."""
    newest = max((number for number, _ in rounds), default=0)
    seen = [
        (number, TargetSeen(Connected(us, "" if us else "no answer within 1000 ms"), ECHOES if us else 0, bool(us)))
        for number, us in rounds
    ]
    return ProbesRead(series, tuple(ProbeRound(number, 2_000 * (newest - number), (each, each)) for number, each in seen), counted)


@pytest.fixture
def probed_gateway(mara: Client, network: factories.Network) -> Gateway:
    factories.probes(network)
    gateway = network.gateways[0]
    gateway.refresh_from_db()
    return gateway


def answering(*replies: wire.Reply) -> AgentChannel:
    """Return a channel to an agent that gives these replies, whatever it is asked."""
    frames = [json.loads(line) for reply in replies for line in wire.iter_lines(0, reply)]
    program = "\n".join(
        (
            "import json, sys",
            f"for frame in json.loads({json.dumps(frames)!r}):",
            "    print(json.dumps(frame | {'id': json.loads(sys.stdin.readline())['id']}), flush=True)",
        )
    )
    return AgentChannel("nat-1", RelayProgram((sys.executable, "-S", "-c", program)))


def read_and_store(gateway: Gateway, answer: wire.Reply) -> ProbeStatus:
    """Let the gateway's agent answer so; return what is known of IPv4 then."""
    known = [RoundPosition(each.series, each.number) for each in gateway.probe_statuses.filter(family=4)]
    store_rounds(gateway, read_rounds(answering(answer), gateway, known[0] if known else RoundPosition(), timezone.now()))
    return ProbeStatus.objects.get(gateway=gateway, family=4)


def test_rounds_that_come_twice_or_after_a_new_start_of_the_prober_are_stored_once(probed_gateway: Gateway) -> None:
    assert read_and_store(probed_gateway, build_answer((1, 500), (2, 600))).recent == [500, 600]
    assert read_and_store(probed_gateway, build_answer((1, 500), (2, 600), (3, 700))).recent == [500, 600, 700]
    restarted = read_and_store(probed_gateway, build_answer((1, 800), series="b"))
    assert (restarted.recent, restarted.series, restarted.number) == ([500, 600, 700, 800], "b", 1)


def test_an_agent_that_was_not_asked_before_shows_no_way_yet(probed_gateway: Gateway) -> None:
    assert read_rounds(answering(build_answer((1, 500), counted=None)), probed_gateway, RoundPosition(), timezone.now()) == []


def test_a_round_is_as_old_as_it_is_and_not_as_its_answer(probed_gateway: Gateway) -> None:
    status = read_and_store(probed_gateway, build_answer((1, 500), (31, None)))
    assert status.answered and 59 <= (status.at - status.answered).total_seconds() <= 61


def test_a_prober_that_fails_keeps_the_place_in_the_series(probed_gateway: Gateway) -> None:
    read_and_store(probed_gateway, build_answer((1, 500)))
    failed = read_and_store(probed_gateway, wire.Refused("state", "no prober"))
    assert (failed.state, failed.failures, failed.number) == ("unknown", 1, 1)
    assert read_and_store(probed_gateway, build_answer((1, 500), (2, 600))).recent == [500, 600]


@pytest.mark.parametrize(
    ("counted", "seen", "ok", "conclusive", "words"),
    [
        (COUNTED, TargetSeen(Connected(900), ECHOES, True), True, True, "answered through nat-1 in 0.9 ms"),
        (
            COUNTED,
            TargetSeen(NOTHING, 1, False),
            True,
            True,
            "echoes through nat-1, but not port 80: no answer",
        ),
        (COUNTED | {"probe_down4": 0}, TargetSeen(Connected(900), 0, False), False, False, "on another path"),
        ({}, TargetSeen(NOTHING, 0, False), False, False, "no probe counters"),
        (COUNTED | {"probe_down4": 0}, TargetSeen(NOTHING, 0, False), False, True, "Packets out: 9, back: none"),
        (
            COUNTED | {"probe_down4": 0, "leaked": 9},
            TargetSeen(NOTHING, 0, False),
            False,
            True,
            "Source NAT is missing",
        ),
        (COUNTED | {"probe_down4": 0, "leaked": 3}, TargetSeen(NOTHING, 0, False), False, True, "back: none"),
        (COUNTED | {"probe_up4": 0, "probe_down4": 0}, TargetSeen(NOTHING, 0, False), False, True, "was forwarded"),
        (COUNTED, TargetSeen(NOT_ACCEPTED, 0, False), False, False, "refused."),
        (COUNTED, TargetSeen(NOT_ACCEPTED, None, None), False, False, "refused."),
    ],
)
def test_a_round_is_explained_by_what_the_counters_saw(
    probed_gateway: Gateway, counted: dict[str, int], seen: TargetSeen, ok: bool, conclusive: bool, words: str
) -> None:
    answer = ProbesRead("a", (ProbeRound(1, 0, (seen, seen)),), counted)
    [found] = read_rounds(answering(answer), probed_gateway, RoundPosition(), timezone.now())
    assert (found.results[0].ok, found.results[0].is_conclusive) == (ok, conclusive)
    assert words in found.results[0].sentence


def test_full_size_packets_that_no_longer_pass_are_one_need_of_the_gateway(mara: Client, network: factories.Network) -> None:
    whole = [replace(each, echoes=ECHOES, full_size=True) for each in PASSED]
    small = [replace(each, echoes=ECHOES, full_size=False, mtu=1300) for each in PASSED]
    first, other = network.gateways
    store(other, PASSED)
    store(first, tuple(whole))
    store(first, tuple(small), times=IN_A_ROW)
    assert list_needs() == [("warn", "Packets of full size do not pass nat-1")]
    page = text(mara.get("/"))
    assert "IPv4 + IPv6: Packets of 1500 octets do not come back, small ones do. A router on the way passes at most 1300 octets." in page
    assert "Check the MTU of wan0" in page and "forward" not in title(mara)
    assert "A router on the way passes at most 1300 octets." in text(mara.get(f"/gateways/{first.pk}/"))
    store(first, tuple(replace(each, mtu=0) for each in small), times=1)
    ProbeStatus.objects.update(mtu=0)
    assert list_needs() == [("bad", "Packets of full size do not pass nat-1")]
    store(first, tuple(whole), times=1)
    assert list_needs() == []


def test_the_page_says_what_the_probe_cannot_see(mara: Client, network: factories.Network) -> None:
    path = f"/gateways/{network.gateways[0].pk}/"
    store(network.gateways[0], PASSED)
    assert "the probe sends no echoes. Run netzwart-probe on the gateway again." in text(mara.get(path))
    store(network.gateways[0], tuple(replace(each, echoes=ECHOES, full_size=False) for each in PASSED))
    assert "no echo of 1500 octets has ever come back" in text(mara.get(path))


def test_a_target_without_its_service_shows_nothing_more_about_the_gateway(mara: Client, network: factories.Network) -> None:
    deaf = ProbeResult(4, True, None, "IPv4: 203.0.113.10 answers echoes, but not port 80.", echoes=ECHOES, full_size=True)
    store(network.gateways[0], (deaf, PASSED[1]), times=IN_A_ROW)
    store(network.gateways[1], PASSED)
    assert list_needs() == [("warn", "Nothing shows whether IPv4 packets pass nat-1")]
