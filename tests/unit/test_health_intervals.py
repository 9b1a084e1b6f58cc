"""What happened between two readings of a gateway's health, and how long a finding lasts."""

import dataclasses
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.gateways.health.interval import HealthInterval, QueueLoad, compute_interval
from apps.gateways.health.judgement import is_shown, merge_findings
from apps.gateways.health.models import HealthFinding
from apps.gateways.health.rollup import combine_averages, combine_maxima
from apps.gateways.health.rule import Evidence
from apps.network.models import Gateway
from firewall.codec import decode, encode
from firewall.health import HealthCounters, KernelCounter, LinkQueues, QueueCounters
from tests.health_situations import build_counters

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
BUSY = {"busy_core": Evidence(HealthFinding.Kind.BAD, {"share": 0.96})}
MEASURES = st.dictionaries(st.sampled_from(["packets", "errors", "dropped"]), st.floats(0, 1e9), max_size=3)


def between(before: HealthCounters, after: HealthCounters) -> HealthInterval | None:
    return compute_interval(before, after, clock_offset=0, clock_doubt=0)


def test_rates_are_what_was_counted_by_the_time_that_passed() -> None:
    found = between(build_counters(100, 0), build_counters(110, 10))
    assert found
    assert found.seconds == 10
    assert [round(core.softirq, 3) for core in found.cores] == [0.2, 0.2]
    assert (found.links["lan0"].received, found.links["lan0"].received_bits) == (5000, 4e7)
    assert found.ruleset["refused"] == 20
    assert found.get_rate(KernelCounter.SYN_COOKIES) == 0


def test_a_machine_that_restarted_says_nothing_about_the_time_between() -> None:
    assert between(build_counters(100, 0), build_counters(110, 10, boot="two")) is None
    assert between(build_counters(100, 0), build_counters(100.5, 0.5)) is None


def test_a_new_interface_and_a_new_counter_have_no_rates_yet() -> None:
    before, after = build_counters(100, 0), build_counters(110, 10)
    found = between(dataclasses.replace(before, links=before.links[:1], ruleset={}, counters={}), after)
    assert found
    assert found.links["wan0"].received == 0
    assert (found.ruleset, found.rates) == ({}, {})


def build_queues(**counted: tuple[QueueCounters, ...]) -> tuple[LinkQueues, ...]:
    return tuple(LinkQueues(name, len(each), 1, (), (), each) for name, each in counted.items())


def test_queues_have_rates_where_both_readings_count_them() -> None:
    before = build_counters(100, 0, queues=build_queues(wan0=(QueueCounters(0, 1_000, 5), QueueCounters(1, 7_000, 0))))
    later = (QueueCounters(0, 21_000, 15), QueueCounters(1, 9, 0), QueueCounters(2, 50, 50))
    found = between(before, build_counters(110, 10, queues=build_queues(wan0=later, lan0=(QueueCounters(0, 9, 9),))))
    assert found
    assert found.queue_loads == {"wan0": (QueueLoad(0, 2_000, 1), QueueLoad(1, 0, 0)), "lan0": ()}


@given(st.integers(0, 1 << 64), st.integers(0, 1 << 64))
def test_a_counter_that_began_again_gives_no_negative_rate(before: int, after: int) -> None:
    one, two = (build_counters(at, at, ruleset={"spoofed": count % (1 << 64)}) for at, count in ((100, before), (110, after)))
    found = between(one, two)
    assert found
    assert all(rate >= 0 for rate in found.ruleset.values())


def test_a_reading_is_stored_and_read_as_it_was() -> None:
    counters = build_counters(100, 0)
    assert decode(HealthCounters, encode(counters)) == counters


def test_a_finding_is_shown_after_two_readings_and_gone_after_two() -> None:
    gateway, found = Gateway(name="nat-1"), list[HealthFinding]()
    shown = []
    for at, evidence in enumerate([BUSY, BUSY, BUSY, {}, BUSY, {}, {}, {}]):
        found = merge_findings(gateway, found, evidence, NOON + timedelta(seconds=10 * at))
        shown.append([each.since for each in found if is_shown(each)])
    assert shown == [[], [NOON], [NOON], [NOON], [NOON], [NOON], [], []]


def test_what_a_single_reading_shows_is_never_shown() -> None:
    gateway, found = Gateway(name="nat-1"), list[HealthFinding]()
    for at in range(6):
        found = merge_findings(gateway, found, {} if at % 2 else BUSY, NOON + timedelta(seconds=10 * at))
        assert not any(map(is_shown, found))


@given(st.lists(MEASURES, min_size=1))
def test_a_sum_lies_between_its_parts(parts: list[dict[str, float]]) -> None:
    averages, maxima = combine_averages(parts), combine_maxima(parts)
    assert set(averages) == set(maxima) == {key for part in parts for key in part}
    for key, average in averages.items():
        values = [part[key] for part in parts if key in part]
        assert maxima[key] == max(values)
        assert min(values) - 1 <= average <= max(values) + 1
