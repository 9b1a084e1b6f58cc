"""Rules about gateways' health: each finds its own fault and no other, and says it in words."""

import dataclasses
from ipaddress import ip_address
from typing import Any

import pytest
from django.utils.translation import override

from apps.gateways.health.interval import QueueLoad
from apps.gateways.health.judgement import judge
from apps.gateways.health.measures import ALL, compute_measures, format_measure
from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rules import MODULES, RULES
from apps.gateways.health.rules.busy_core import format_core_mask
from firewall.health import Forwarding, KernelCounter, LinkQueues
from tests.health_situations import ADDRESSES, LEVELS, build_interval, build_situation, change_core, change_link

Kind = HealthFinding.Kind
GIB = 1 << 30


def levels(**changed: int) -> dict[str, Any]:
    return {"levels": dataclasses.replace(LEVELS, **changed)}


def rates(**changed: float) -> dict[str, Any]:
    return {"rates": dict(build_interval().rates) | {KernelCounter[name.upper()]: value for name, value in changed.items()}}


def ruleset(**changed: float) -> dict[str, Any]:
    return {"ruleset": dict(build_interval().ruleset) | changed}


FAULTS = [
    ("busy_core", Kind.BAD, {"cores": change_core(softirq=0.96, busy=1.0)}),
    ("busy_core", Kind.WARN, {"cores": change_core(softirq=0.75, busy=0.9)}),
    ("backlog_drops", Kind.BAD, {"cores": change_core(dropped=40)}),
    ("connections_full", Kind.WARN, levels(connections=220_000)),
    ("connections_full", Kind.BAD, levels(connections=262_000)),
    ("connections_dropped", Kind.BAD, rates(conntrack_drop=3)),
    ("connections_dropped", Kind.BAD, rates(conntrack_early_drop=3)),
    ("insert_failures", Kind.WARN, rates(conntrack_insert_failed=12)),
    ("link_down", Kind.BAD, {"links": change_link("wan0", is_up=False)}),
    ("link_down", Kind.BAD, {"links": {name: link for name, link in build_interval().links.items() if name != "lan0"}}),
    ("link_down", Kind.WARN, {"links": change_link("sync0", is_up=False)}),
    ("link_errors", Kind.WARN, {"links": change_link("wan0", errors=30)}),
    ("packets_dropped", Kind.WARN, {"links": change_link("lan0", dropped=500)}),
    ("link_full", Kind.WARN, {"links": change_link("wan0", received_bits=9.7e8)}),
    ("link_full", Kind.WARN, {"links": change_link("wan0", sent_bits=9.7e8)}),
    ("slow_link", Kind.WARN, {"links": change_link("lan0", speed=100)}),
    ("listen_overflows", Kind.WARN, rates(listen_overflows=5)),
    ("listen_overflows", Kind.WARN, rates(syn_cookies=500)),
    ("routing_loop", Kind.WARN, rates(time_exceeded4=300)),
    ("routing_loop", Kind.WARN, rates(time_exceeded6=300)),
    ("no_address", Kind.BAD, {"addresses": {"lo": ADDRESSES["lo"], "lan0": (ip_address("fe80::1"),)}}),
    ("no_address", Kind.BAD, {"addresses": {"lan0": (ip_address("10.0.0.1"),)}}),
    ("no_route", Kind.BAD, {"forwarding": Forwarding(True, True, False, True)}),
    ("not_forwarding", Kind.BAD, {"forwarding": Forwarding(True, False, True, True)}),
    ("untranslated", Kind.WARN, ruleset(unmapped=60)),
    ("untranslated", Kind.WARN, ruleset(leaked=50)),
    ("portless", Kind.WARN, ruleset(portless=50)),
    ("set_full", Kind.WARN, {"sets": {"member_rate4_50_100": (60_000, 65_536), "source_open6_9": (9, 65_536)}}),
    ("spoofed_sources", Kind.WARN, ruleset(spoofed=5000)),
    ("clock_offset", Kind.WARN, {"clock_offset": 60.0}),
    ("clock_offset", Kind.WARN, {"clock_offset": -60.0}),
    ("memory_low", Kind.WARN, levels(memory_available=GIB // 3)),
    ("memory_low", Kind.BAD, levels(memory_available=GIB // 10)),
    ("disk_full", Kind.WARN, levels(disk_free=GIB // 2)),
    ("disk_full", Kind.BAD, levels(disk_free=GIB // 10)),
    ("hot", Kind.WARN, levels(temperature=93_000)),
    ("hot", Kind.BAD, levels(temperature=101_000)),
]


@pytest.mark.parametrize(("rule", "kind", "changed"), FAULTS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_each_fault_is_found_alone_and_in_words(rule: str, kind: HealthFinding.Kind, changed: dict[str, Any], language: str) -> None:
    found = judge(build_situation(**changed), RULES.values())
    assert {name: evidence.kind for name, evidence in found.items()} == {rule: kind}
    with override(language):
        title = str(RULES[rule].title) % {"gateway": "nat-1"}
        said = RULES[rule].describe(found[rule].values)
    assert "nat-1" in title
    assert said.endswith(".") and "%(" not in said and "None" not in said


def test_every_rule_has_a_fault_here_and_a_name_of_its_own() -> None:
    assert {rule for rule, _kind, _changed in FAULTS} == set(RULES)
    assert len(RULES) == len(MODULES)


def test_a_healthy_gateway_has_no_finding() -> None:
    assert judge(build_situation(), RULES.values()) == {}
    assert judge(build_situation(sync=""), RULES.values()) == {}


def test_a_gateway_in_memory_has_no_machine_and_no_finding() -> None:
    nothing = build_situation(
        cores=(), links={}, rates={}, ruleset={}, levels=dataclasses.replace(LEVELS, connections=0, most_connections=0)
    )
    assert judge(nothing, RULES.values()) == {}
    assert "busiest_core" not in compute_measures(nothing)


def test_a_family_that_no_member_uses_needs_no_route() -> None:
    only4 = Forwarding(True, False, True, False)
    assert judge(build_situation(families=frozenset({4}), forwarding=only4), RULES.values()) == {}


def test_a_tunnel_that_claims_ten_megabits_and_a_member_without_ipv4_are_no_findings() -> None:
    assert judge(build_situation(links=change_link("wan0", speed=10)), RULES.values()) == {}
    assert judge(build_situation(**ruleset(unmapped=20)), RULES.values()) == {}


def test_a_route_that_only_members_have_is_proved_by_probes() -> None:
    nowhere = build_situation(forwarding=Forwarding(True, True, False, True))
    for passing, found in (({4, 6}, set()), ({6}, {"no_route"})):
        probed = dataclasses.replace(nowhere, passing=frozenset(passing))
        assert set(judge(probed, RULES.values())) == found


def test_an_unnumbered_interface_borrows_the_address_of_loopback() -> None:
    borrowed = {"lo": (*ADDRESSES["lo"], ip_address("10.0.0.1"))}
    assert set(judge(build_situation(addresses=borrowed, families=frozenset({4})), RULES.values())) == set()
    assert set(judge(build_situation(addresses=borrowed), RULES.values())) == {"no_address"}


def test_an_agent_that_tells_no_addresses_lacks_none() -> None:
    assert judge(build_situation(addresses=None), RULES.values()) == {}


def test_a_pulled_cable_stops_what_it_carries_and_affects_members_only_if_it_is_theirs() -> None:
    rule, values = RULES["link_down"], {}
    for name in ("lan0", "wan0", "sync0", "mgmt0"):
        found = judge(dataclasses.replace(build_situation(links=change_link(name, is_up=False)), probe="mgmt0"), RULES.values())
        values[name] = found["link_down"].values
    assert {name for name, each in values.items() if rule.affects_members(each)} == {"lan0", "wan0"}
    assert {name for name, each in values.items() if rule.stops(each) == {4, 6}} == {"lan0", "wan0", "mgmt0"}
    assert "probe cannot pass" in rule.describe(values["mgmt0"]) and "probe" not in rule.describe(values["sync0"])


def test_a_slow_answer_is_no_wrong_clock() -> None:
    assert judge(build_situation(clock_offset=8.0, clock_doubt=6.0), RULES.values()) == {}


def test_a_few_drops_among_very_many_packets_are_no_finding() -> None:
    links = change_link("wan0", dropped=20, received=1e6, sent=1e6)
    assert judge(build_situation(links=links), RULES.values()) == {}


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_measure_is_computed_and_written_with_its_unit(language: str) -> None:
    found = compute_measures(build_situation())
    assert set(found) == {each.key for each in ALL if not each.key.startswith("probe")}
    with override(language):
        written = {each.key: format_measure(each.unit, found[each.key]) for each in ALL if each.key in found}
    assert written["busiest_core"].replace("\u202f", " ").replace("\xa0", " ") in ("20%", "20 %")
    assert all(written.values())


ONE_QUEUE = LinkQueues("wan0", 1, 1, steered=(), interrupts=(1,))


@pytest.mark.parametrize(
    ("card", "is_named"),
    [
        (ONE_QUEUE, True),
        (dataclasses.replace(ONE_QUEUE, receiving=8), True),
        (dataclasses.replace(ONE_QUEUE, interrupts=()), True),
        (dataclasses.replace(ONE_QUEUE, interrupts=(0,), steered=(1,)), True),
        (dataclasses.replace(ONE_QUEUE, steered=(0, 1)), False),
        (dataclasses.replace(ONE_QUEUE, receiving=2, interrupts=(0, 1)), False),
        (dataclasses.replace(ONE_QUEUE, receiving=2, interrupts=()), False),
        (dataclasses.replace(ONE_QUEUE, interrupts=(0,)), False),
        (dataclasses.replace(ONE_QUEUE, name="mgmt0"), False),
    ],
)
def test_a_busy_core_that_gets_all_packets_of_a_card_says_how_to_spread_them(card: LinkQueues, is_named: bool) -> None:
    busy = build_situation(cores=change_core(softirq=0.96, busy=1.0), queues={card.name: card})
    said = RULES["busy_core"].describe(judge(busy, RULES.values())["busy_core"].values)
    assert ("All packets that wan0 receives go to that core" in said and "“echo 3”" in said) is is_named
    assert judge(build_situation(queues={card.name: card}), RULES.values()) == {}, "a core that is not busy is no fault"


def describe_busy_core(*packets: float, card: str = "wan0") -> str:
    """Return what is said of a busy core if the card's queues receive so many packets a second."""
    loads = {card: tuple(QueueLoad(queue, each, 0.0) for queue, each in enumerate(packets))}
    busy = build_situation(cores=change_core(softirq=0.96, busy=1.0), queue_loads=loads)
    return RULES["busy_core"].describe(judge(busy, RULES.values())["busy_core"].values)


def test_a_busy_core_names_the_queue_that_gets_most_packets() -> None:
    assert "Queue 2 of wan0 receives 97" in describe_busy_core(1_000, 2_000, 97_000)
    unnamed = "keeps one queue of the network card busy"
    for said in (
        describe_busy_core(30_000, 33_000, 36_000),
        describe_busy_core(1, 2, 90),
        describe_busy_core(97_000),
        describe_busy_core(),
        describe_busy_core(1_000, 97_000, card="mgmt0"),
    ):
        assert unnamed in said


@pytest.mark.parametrize(("drops", "is_named"), [((0.0, 450.0), True), ((1.0, 2.0), False), ((), False)])
def test_an_interface_that_drops_names_the_queue_that_drops_most(drops: tuple[float, ...], *, is_named: bool) -> None:
    loads = {"wan0": tuple(QueueLoad(queue, 10_000.0, each) for queue, each in enumerate(drops))}
    found = judge(build_situation(links=change_link("wan0", dropped=500.0), queue_loads=loads), RULES.values())
    assert ("Its receive queue 1 drops most: 450" in RULES["packets_dropped"].describe(found["packets_dropped"].values)) is is_named


def test_the_mask_of_many_cores_is_written_as_the_kernel_takes_it() -> None:
    assert [format_core_mask(cores) for cores in (1, 4, 32, 36, 64)] == ["1", "f", "ffffffff", "f,ffffffff", "ffffffff,ffffffff"]
