"""Counters of large sets, asked for by key: equal to those of a dump, whatever comes, goes or does not fit meanwhile."""

from collections.abc import Iterator, Mapping
from contextlib import closing

import pytest

from firewall.diff import Delta, ElementChange, diff
from firewall.ruleset import EMPTY, PLAIN, Element, Elements, Ruleset, Set, Type
from gateway.keyed_reading import iter_keyed_counts
from gateway.netlink import Netlink
from gateway.table import ElementCounts
from tests.agent.conftest import Bench, make_gateway_param
from tests.agent.counter_tables import count
from tests.agent.gateways import clock
from tests.agent.rulesets import key

UP = Set("up4", (Type.IPV4,), 1 << 14, counter=True)
BANS = Set("bans4_32", (Type.IPV4,), 1 << 14, counter=True, timeout=True)
KEYS = [key(f"10.{high}.{low}.1") for high in range(15) for low in range(200)]
COUNTS = {each: (at + 1, 100 * (at + 1)) for at, each in enumerate(KEYS)}

pytestmark = [pytest.mark.kernel, pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)]


def build_ruleset(of: Set, elements: Elements) -> Ruleset:
    return Ruleset(sets={of.name: of}, elements={of.name: elements})


def load(bench: Bench, of: Set, counts: Mapping[bytes, tuple[int, int]], elements: Elements | None = None) -> None:
    """Load elements that have counted. Those of `elements` have counted nothing."""
    commit(bench, diff(EMPTY, build_ruleset(of, {**dict.fromkeys(counts, PLAIN), **(elements or {})})))
    if counts:
        count(bench, of.name, counts)


def commit(bench: Bench, delta: Delta) -> None:
    bench.do(bench.table.commit, delta, clock())


def start_reading(bench: Bench, of: Set, tally: ElementCounts, receive_buffer: int = 8 << 20) -> Iterator[None]:
    """Start to read the counters of KEYS by key, over a socket with such a buffer."""

    def begin() -> tuple[Netlink, Iterator[None]]:
        own = Netlink()
        own.set_receive_buffer(receive_buffer)
        return own, iter_keyed_counts(own, of.name, KEYS, tally)

    own, parts = bench.do(begin)
    with closing(own):
        yield from parts


def read_whole(bench: Bench, of: Set, receive_buffer: int = 8 << 20) -> ElementCounts:
    tally: ElementCounts = {}
    list(start_reading(bench, of, tally, receive_buffer))
    return tally


def dump(bench: Bench, of: Set) -> ElementCounts:
    tally: ElementCounts = {}
    bench.do(lambda: list(bench.table.read_counts(of.name, [], tally)))
    return tally


@pytest.mark.parametrize("of", [UP, BANS])
def test_what_is_read_by_key_is_what_a_dump_has(bench: Bench, of: Set) -> None:
    load(bench, of, COUNTS)
    assert read_whole(bench, of) == dump(bench, of) == COUNTS


def test_texts_and_ends_of_any_length_are_no_obstacle(bench: Bench) -> None:
    plain = {each: Element(b"", "x" * (at % 40), clock() + 3600 if at % 3 else 0) for at, each in enumerate(KEYS)}
    load(bench, BANS, {}, plain)
    count(bench, BANS.name, {each: COUNTS[each] for each in KEYS[::100]})
    found = read_whole(bench, BANS)
    assert found == dump(bench, BANS) == {each: COUNTS[each] if at % 100 == 0 else (0, 0) for at, each in enumerate(KEYS)}


def test_addresses_of_the_new_protocol_are_read_too(bench: Bench) -> None:
    of = Set("up6_64", (Type.IPV6,), 1 << 14, counter=True)
    keys = [number.to_bytes(16) for number in range(1000)]
    commit(bench, diff(EMPTY, build_ruleset(of, dict.fromkeys(keys, PLAIN))))
    tally: ElementCounts = {}

    def read() -> None:
        with closing(Netlink()) as own:
            list(iter_keyed_counts(own, of.name, keys, tally))

    bench.do(read)
    assert tally == dict.fromkeys(keys, (0, 0))


def test_elements_that_are_missing_are_left_out_and_those_behind_them_are_read(bench: Bench) -> None:
    """The kernel ends a message at the first key that it does not find."""
    there = {each: COUNTS[each] for at, each in enumerate(KEYS) if at % 7 and not 500 < at < 1400}
    load(bench, UP, there)
    assert read_whole(bench, UP) == there


def test_whatever_comes_and_goes_between_its_parts_each_that_stays_is_read_to_the_octet(bench: Bench) -> None:
    load(bench, UP, COUNTS)
    leaving, returning, staying = KEYS[::3], KEYS[1::3], KEYS[2::3]
    tally: ElementCounts = {}
    parts = start_reading(bench, UP, tally)
    for at in range(0, len(leaving), 200):
        assert next(parts, True) is None, "there is more to read than there are changes"
        old, again = (dict.fromkeys(each[at : at + 200], PLAIN) for each in (leaving, returning))
        commit(bench, Delta(elements={UP.name: ElementChange(UP, old | again, again)}))
    list(parts)
    assert {each: tally[each] for each in staying} == {each: COUNTS[each] for each in staying}
    assert {each for each in returning if tally[each] not in (COUNTS[each], (0, 0))} == set()
    assert {each for each in leaving if tally.get(each, COUNTS[each]) != COUNTS[each]} == set()


@pytest.mark.parametrize("receive_buffer", [1 << 12, 1 << 15])
def test_answers_that_do_not_fit_into_the_buffer_are_asked_for_again(bench: Bench, receive_buffer: int) -> None:
    load(bench, UP, COUNTS)
    assert read_whole(bench, UP, receive_buffer) == COUNTS


def test_a_set_that_vanishes_meanwhile_is_told(bench: Bench) -> None:
    load(bench, UP, COUNTS)
    bench.table.most_dumped = 0  # type: ignore[union-attr]  # this table is the kernel's
    tally: ElementCounts = {}
    parts = bench.table.read_counts(UP.name, KEYS, tally)
    bench.do(next, parts)
    commit(bench, diff(build_ruleset(UP, dict.fromkeys(KEYS, PLAIN)), EMPTY))
    bench.do(list, parts)
    assert not tally
