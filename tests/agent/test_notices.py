"""Kernel notices of deleted elements: too many for the socket, and of elements from the release before."""

from contextlib import closing
from dataclasses import replace
from ipaddress import IPv4Address

import pytest

from firewall import owners, wire
from firewall.counters import Baseline, compute_reading_advance
from firewall.diff import Delta, ElementChange, diff
from firewall.ruleset import EMPTY, PLAIN, Ruleset, Set, Type
from gateway import deleted_element_counters
from gateway.deleted_element_counters import DeletionListener
from gateway.load_plan import LARGE
from tests.agent.conftest import Bench, make_gateway_param, restrict_to_gateways
from tests.agent.counter_tables import count
from tests.agent.gateways import OnKernel, clock
from tests.agent.requests import deploy
from tests.agent.rulesets import key, network, step, whole

UP = Set("up4", (Type.IPV4,), 1 << 18, counter=True)
MANY = 150_000
OURS = {key("10.255.0.1"): (3, 300), key("10.255.0.2"): (4, 400)}


def build_change(removed: dict[bytes, tuple[int, int]] | range, *, add: bool = False) -> Delta:
    keys = [IPv4Address((10 << 24) + each).packed for each in removed] if isinstance(removed, range) else removed
    elements = dict.fromkeys(keys, PLAIN)
    return Delta(elements={"up4": ElementChange(UP, {}, elements) if add else ElementChange(UP, elements, {})})


@pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)
def test_a_listener_notices_lost_notices_and_a_commit_that_expects_many_receives_all(bench: Bench) -> None:
    """The kernel drops notices that do not fit into a socket (ENOBUFS); a buffer for one notice is too small for many."""
    bench.do(bench.table.commit, diff(EMPTY, Ruleset(sets={"up4": UP}, elements={"up4": {}})), clock())
    bench.do(bench.table.commit, build_change(range(MANY), add=True), clock())
    bench.do(bench.table.commit, build_change(OURS, add=True), clock())
    count(bench, "up4", OURS)
    with closing(bench.do(DeletionListener)) as small, small.listen(1):
        bench.do(bench.table.commit, build_change(range(MANY)), clock())
        bench.do(bench.table.commit, build_change(OURS), clock())
        heard = bench.do(list, small.iter_deleted_counts())
    assert small.lost
    assert all(name == "up4" for name, _ended in heard), "what was told before stays true"
    assert bench.do(bench.table.take_deleted_counts) == {"up4": {(each, b""): counted for each, counted in OURS.items()}}
    assert bench.do(bench.table.take_deleted_counts) == {}, "it is told once"


@pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)
@pytest.mark.parametrize("size", [LARGE + 1, LARGE], ids=["filled before", "in the same transaction"])
def test_what_a_change_adds_does_not_crowd_out_what_it_deletes(bench: Bench, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(deleted_element_counters, "_LEAST_BUFFER", 1 << 14)
    before = Ruleset(sets={"up4": UP}, elements={"up4": dict.fromkeys(OURS, PLAIN)})
    bench.do(bench.table.commit, diff(EMPTY, before), clock())
    count(bench, "up4", OURS)
    first = replace(UP, name="first4")
    added = build_change(range(size), add=True).elements["up4"].added
    after = Ruleset(sets={"first4": first, "up4": UP}, elements={"first4": added, "up4": {}})
    bench.do(bench.table.commit, diff(before, after), clock())
    assert bench.do(bench.table.take_deleted_counts) == {"up4": {(each, b""): counted for each, counted in OURS.items()}}


def get_heard_keys(bench: Bench, listener: DeletionListener) -> list[bytes]:
    return [key for _name, ended in bench.do(list, listener.iter_deleted_counts()) for key, _owner in ended]


@pytest.mark.parametrize("bench", [make_gateway_param("kernel")], indirect=True)
def test_a_listener_hears_each_deletion_once_even_in_nested_blocks_and_none_outside_them(bench: Bench) -> None:
    """Renewing expiring elements deletes some in the middle of a commit that deletes others."""
    first, second = OURS
    bench.do(bench.table.commit, diff(EMPTY, Ruleset(sets={"up4": UP}, elements={"up4": {}})), clock())

    def count_and_delete(each: bytes) -> None:
        bench.do(bench.table.commit, build_change({each: OURS[each]}, add=True), clock())
        count(bench, "up4", {each: OURS[each]})
        bench.do(bench.table.commit, build_change({each: OURS[each]}), clock())

    with closing(bench.do(DeletionListener)) as listener:
        with listener.listen(1):
            with listener.listen(1):
                count_and_delete(first)
                assert get_heard_keys(bench, listener) == [first]
            count_and_delete(second)
            assert get_heard_keys(bench, listener) == [second]
            count_and_delete(first)
        count_and_delete(first)
        with listener.listen(1):
            count_and_delete(second)
            assert get_heard_keys(bench, listener) == [second]


def test_an_element_that_ends_twice_before_anybody_asks_had_counted_both(bench: Bench) -> None:
    bench.do(bench.table.commit, diff(EMPTY, Ruleset(sets={"up4": UP}, elements={"up4": {}})), clock())
    for _ in range(2):
        bench.do(bench.table.commit, build_change(OURS, add=True), clock())
        count(bench, "up4", OURS)
        bench.do(bench.table.commit, build_change(OURS), clock())
    assert bench.do(bench.table.take_deleted_counts) == {
        "up4": {(at, b""): (2 * packets, 2 * octets) for at, (packets, octets) in OURS.items()}
    }


def set_upload_counters(gateway: OnKernel, octets: int, owner: bytes = b"") -> None:
    """Set the upload counters of the first two members' IPv4 addresses to this many octets."""
    there = "element inet netzwart up4"
    of = ["10.1.0.1", "10.1.0.2"]
    comments = [f' comment "{owners.format_comment(owners.encode_holding_id(1_000_000 + at))}"' if owner else "" for at in range(len(of))]
    after = ", ".join(f"{each} counter packets {octets // 100} bytes {octets}{text}" for each, text in zip(of, comments, strict=True))
    gateway.nft(f"delete {there} {{ {', '.join(of)} }}; add {there} {{ {after} }}")


@restrict_to_gateways("kernel")
def test_elements_of_the_release_before_get_owners_and_all_that_they_counted_is_counted_once(gateway: OnKernel) -> None:
    before, after = network(2, first_owner=0), network(2)
    deploy(gateway, whole(before, token=1, now=clock()))
    set_upload_counters(gateway, 1000)
    readings = [gateway.ask(wire.Counters("", 0))]
    set_upload_counters(gateway, 1500)
    deploy(gateway, step(before, after, token=2, now=clock()))
    readings.append(gateway.ask(wire.Counters("", 0)))
    set_upload_counters(gateway, 700, owners.encode_holding_id(1_000_000))
    gateway.restart()
    readings += [gateway.ask(wire.Counters("", 0)) for _ in range(2)]

    baseline, sums = Baseline(), dict[tuple[int, bytes], int]()
    for reading in (readings[0], *readings, *readings):
        assert isinstance(reading, wire.Reading)
        if further := compute_reading_advance(baseline, reading):
            baseline = further.baseline
            for each in further.passed.get("up4", ()):
                sums[each.owner, each.key] = sums.get((each.owner, each.key), 0) + each.octets
    nobodys = {(0, key(f"10.1.0.{at}")): 1500 for at in (1, 2)}
    owned = {(1_000_000 + at, key(f"10.1.0.{at + 1}")): 700 for at in (0, 1)}
    assert sums == nobodys | owned
