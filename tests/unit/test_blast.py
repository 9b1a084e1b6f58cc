"""The blast radius of a change, and held-back parts, which stay exactly as they run."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from firewall.blast_radius import (
    RemovalLimits,
    ServiceRemoval,
    compute_removals,
    filter_still_lost,
    find_cutoffs,
    hold_back_parts,
    split_removals,
    subtract_known,
)
from firewall.diff import ElementChange, diff
from firewall.ruleset import PLAIN, Element, Elements, Ruleset, Set, Type
from firewall.sets import ObjectKind
from firewall.summary import SummaryLine, summarize

UP, DOWN = Set("up4", (Type.IPV4,), 1 << 16), Set("down4", (Type.IPV4,), 1 << 16)
SNAT = Set("snat4", (Type.IPV4,), 1 << 16, value=(Type.IPV4,))


def keys(*numbers: int) -> dict[bytes, Element]:
    return {number.to_bytes(4): PLAIN for number in numbers}


def members(*numbers: int) -> Ruleset:
    return Ruleset({}, {"up4": UP, "down4": DOWN}, {"up4": keys(*numbers), "down4": keys(*numbers)})


def test_a_member_is_counted_once_though_he_stands_in_two_sets() -> None:
    change = diff(members(1, 2, 3), members(1))
    found = compute_removals(change.elements, {"up4": 3, "down4": 3}, 0)
    assert (found[ObjectKind.ADDRESSES].removed, found[ObjectKind.ADDRESSES].of) == (2, 3)
    assert found[ObjectKind.ADDRESSES].elements.keys() == {"up4", "down4"}


def test_what_changes_is_not_removed() -> None:
    one, other = Element(b"\1\1\1\1"), Element(b"\2\2\2\2")
    changes = {"snat4": ElementChange(SNAT, {b"abcd": one}, {b"abcd": other})}
    assert compute_removals(changes, {"snat4": 1}, 0) == {}


OWN = Set("snat4_own", (Type.IPV4,), 1 << 16, value=(Type.IPV4,))


def test_an_element_that_moves_to_a_sibling_set_is_not_a_removal() -> None:
    one = {b"abcd": Element(b"\1\1\1\1")}
    moved = {"snat4": ElementChange(SNAT, one, {}), "snat4_own": ElementChange(OWN, {}, one)}
    assert compute_removals(moved, {"snat4": 1}, 0) == {}
    assert compute_removals({"snat4": moved["snat4"]}, {"snat4": 1}, 0)[ObjectKind.MAPPINGS].removed == 1


def test_what_waits_is_over_once_its_key_is_in_a_set_beside() -> None:
    one = {b"abcd": Element(b"\1\1\1\1")}
    assert hold_back_parts({"snat4": {}, "snat4_own": one}, [{"snat4": one}]) == {"snat4": {}, "snat4_own": one}


def test_an_element_that_moves_to_a_sibling_set_counts_as_changed() -> None:
    one, more = {b"abcd": Element(b"\1\1\1\1")}, {b"abce": Element(b"\1\1\1\1")}
    before = Ruleset({}, {"snat4": SNAT, "snat4_own": OWN}, {"snat4": one, "snat4_own": {}})
    after = Ruleset({}, {"snat4": SNAT, "snat4_own": OWN}, {"snat4": more, "snat4_own": one})
    assert summarize(diff(before, after), after) == (SummaryLine(ObjectKind.MAPPINGS, 1, 0, 1, 2),)


def test_what_ends_by_itself_is_nobodys_removal() -> None:
    bans = Set("bans4_32", (Type.IPV4,), 1 << 16, timeout=True)
    changes = {"bans4_32": ElementChange(bans, {b"abcd": Element(expires=50), b"abce": Element(expires=51)}, {})}
    assert compute_removals(changes, {"bans4_32": 2}, 50)[ObjectKind.BANS].removed == 1


def test_both_limits_must_be_passed() -> None:
    limits = RemovalLimits(share=20, least=10)
    assert not limits.is_exceeded(9, 9)
    assert not limits.is_exceeded(10, 50)
    assert limits.is_exceeded(11, 50)
    assert limits.is_exceeded(10, 49)


NUMBERS = st.frozensets(st.integers(0, 40), max_size=40)


@given(NUMBERS, NUMBERS)
def test_removals_that_wait_are_kept_and_additions_go_out(running: frozenset[int], wanted: frozenset[int]) -> None:
    change = diff(members(*running), members(*wanted))
    found = compute_removals(change.elements, {"up4": len(running), "down4": len(running)}, 0)
    waiting = [removal.elements for removal in found.values()]
    assert hold_back_parts(members(*wanted).elements, waiting) == members(*running, *wanted).elements


@given(NUMBERS, NUMBERS)
def test_an_approved_part_does_not_grow(known: frozenset[int], asked: frozenset[int]) -> None:
    removal = ServiceRemoval(ObjectKind.ADDRESSES, {"up4": keys(*asked), "down4": keys(*asked)}, len(asked), 50)
    rest = subtract_known(removal, [{"up4": keys(*known), "down4": keys(*known)}])
    assert rest.removed == len(asked - known)
    assert rest.elements.get("up4", {}) == keys(*(asked - known))


@given(NUMBERS, NUMBERS)
def test_the_digest_is_of_exactly_these_elements(one: frozenset[int], other: frozenset[int]) -> None:
    digests = [ServiceRemoval(ObjectKind.ADDRESSES, {"up4": keys(*each)}).digest for each in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_a_ban_that_holds_both_ways_from_now_on_is_not_removed() -> None:
    one, both = (Set(f"{name}4_32", (Type.IPV4,), 1 << 16, timeout=True) for name in ("bans_in", "bans"))
    wider = {one.name: ElementChange(one, keys(1), {}), both.name: ElementChange(both, {}, keys(1))}
    assert compute_removals(wider, {one.name: 1}, 0) == {}
    narrower = {both.name: ElementChange(both, keys(1), {}), one.name: ElementChange(one, {}, keys(1))}
    assert compute_removals(narrower, {both.name: 1}, 0)[ObjectKind.BANS].removed == 1


# --- Elements that cut members off when they are added


BLOCKED, BANS24, BANS32 = (Set(name, (Type.IPV4,), 1 << 16, timeout=True) for name in ("blocked4", "bans4_24", "bans4_32"))


def make_blocked(*numbers: int) -> dict[bytes, Element]:
    return {number.to_bytes(4): Element(comment=f"block {number}") for number in numbers}


def test_blocks_of_members_cut_them_off_and_their_ends_do_not() -> None:
    running = members(*range(20)).elements
    comes = {"blocked4": ElementChange(BLOCKED, {}, make_blocked(1, 2))}
    found = find_cutoffs(comes, running)
    assert found and (found.kind, found.removed, found.of) == (ObjectKind.BLOCKS, 2, 20)
    assert find_cutoffs({"blocked4": ElementChange(BLOCKED, make_blocked(1), {})}, running) is None
    assert compute_removals({"blocked4": ElementChange(BLOCKED, make_blocked(1), {})}, {"blocked4": 1}, 0) == {}


def test_a_block_that_only_ends_later_cuts_nobody_off_anew() -> None:
    later = {key: Element(comment=element.comment, expires=99) for key, element in make_blocked(1).items()}
    assert find_cutoffs({"blocked4": ElementChange(BLOCKED, make_blocked(1), later)}, members(1).elements) is None


def test_a_ban_that_covers_members_cuts_them_off_and_others_do_not() -> None:
    running = members(0x0A000001, 0x0A000002, 0x0B000001).elements
    inside = {bytes([10, 0, 0, 0]): PLAIN}
    found = find_cutoffs({"bans4_24": ElementChange(BANS24, {}, inside | {bytes([192, 0, 2, 0]): PLAIN})}, running)
    assert found and (found.elements, found.removed) == ({"+bans4_24": inside}, 2)
    found = find_cutoffs({"bans4_32": ElementChange(BANS32, {}, keys(0x0B000001, 0x0B000002))}, running)
    assert found and (found.elements, found.removed) == ({"+bans4_32": keys(0x0B000001)}, 1)


@given(NUMBERS, NUMBERS)
def test_whose_block_waits_is_not_blocked_and_all_others_are(waits: frozenset[int], wanted: frozenset[int]) -> None:
    left = hold_back_parts({"blocked4": make_blocked(*wanted)}, [{"+blocked4": make_blocked(*waits)}])
    assert left["blocked4"] == make_blocked(*(wanted - waits))


# --- Changes that add up


LIMITS = RemovalLimits(share=20, least=3)


@given(st.lists(st.frozensets(st.integers(0, 40), max_size=6), max_size=12))
def test_in_steps_no_more_goes_than_at_once(steps: list[frozenset[int]]) -> None:
    running, passed = members(*range(41)), [dict[str, Elements]()]
    for gone in steps:
        left = members(*(set(range(41)) & {int.from_bytes(key) for key in running.elements["up4"]} - gone))
        found = compute_removals(diff(running, left).elements, {"up4": len(running.elements["up4"])}, 0)
        waits, goes = split_removals(found, passed, running.elements, LIMITS)
        if not waits:
            running = left
            passed += [dict(removal.elements) for removal in goes]
    assert not LIMITS.is_exceeded(41 - len(running.elements["up4"]), 41)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_whatever_takes_access_away_counts_alike(left: frozenset[int], unmapped: frozenset[int], cut: frozenset[int]) -> None:
    running = dict(members(*range(41)).elements) | {"snat4": {key: Element(b"\1\1\1\1") for key in keys(*range(41))}}
    found = {
        ObjectKind.ADDRESSES: ServiceRemoval(ObjectKind.ADDRESSES, {"up4": keys(*left)}, len(left), 41),
        ObjectKind.MAPPINGS: ServiceRemoval(ObjectKind.MAPPINGS, {"snat4": keys(*unmapped)}, len(unmapped), 41),
        ObjectKind.BLOCKS: ServiceRemoval(ObjectKind.BLOCKS, {"+blocked4": make_blocked(*cut)}, len(cut), 41),
    }
    waits, goes = split_removals({kind: each for kind, each in found.items() if each.removed}, [], running, LIMITS)
    lost = {key for removal in goes for each in removal.elements.values() for key in each}
    assert not LIMITS.is_exceeded(len(lost), 41)
    assert not waits or LIMITS.is_exceeded(len(left | unmapped | cut), 41)


def test_a_single_block_goes_out_beside_removals_that_wait() -> None:
    running = members(*range(40)).elements
    found = {
        ObjectKind.ADDRESSES: ServiceRemoval(ObjectKind.ADDRESSES, {"up4": keys(*range(20))}, 20, 40),
        ObjectKind.BLOCKS: ServiceRemoval(ObjectKind.BLOCKS, {"+blocked4": make_blocked(30)}, 1, 40),
    }
    waits, goes = split_removals(found, [], running, LIMITS)
    assert ([each.kind for each in waits], [each.kind for each in goes]) == ([ObjectKind.ADDRESSES], [ObjectKind.BLOCKS])


@given(NUMBERS, NUMBERS, NUMBERS)
def test_elements_that_are_served_again_are_not_counted_as_lost(gone: frozenset[int], cut: frozenset[int], now: frozenset[int]) -> None:
    part = {"up4": keys(*gone), "+blocked4": make_blocked(*cut)}
    left = filter_still_lost(part, {"up4": keys(*now), "blocked4": make_blocked(*now)})
    assert left.get("up4", {}) == keys(*(gone - now))
    assert left.get("+blocked4", {}) == make_blocked(*(cut & now))


# --- Public addresses and ports that come to another member


BLOCK, OUT, OUT_BLOCK = (Set(name, (Type.IPV4,), 1 << 16) for name in ("snat4_block", "out4", "out4_block"))
MAPS = {each.name: each for each in (OWN, BLOCK, OUT, OUT_BLOCK)}


def make_mappings(own: Mapping[int, int] = {}, blocks: Mapping[int, int] = {}, size: int = 1024) -> Ruleset:
    """Build mappings by private address: to public addresses alone, and to blocks of 198.51.100.7 by number."""
    public = bytes([198, 51, 100, 7])
    spans = {number: (number * size, number * size + size - 1) for number in blocks.values()}
    packed = {number: b"".join(public + port.to_bytes(2) + b"\0\0" for port in span) for number, span in spans.items()}
    elements = {
        "snat4_own": {key.to_bytes(4): Element(value.to_bytes(4)) for key, value in own.items()},
        "out4": keys(*own),
        "snat4_block": {key.to_bytes(4): Element(packed[number]) for key, number in blocks.items()},
        "out4_block": keys(*blocks),
    }
    return Ruleset({}, MAPS, elements)


def keep_waiting(running: Ruleset, wanted: Ruleset) -> Mapping[str, Elements]:
    """Return what the gateways run while all removals wait that can."""
    sizes = {name: len(elements) for name, elements in running.elements.items()}
    found = compute_removals(diff(running, wanted).elements, sizes, 0).values()
    return hold_back_parts(wanted.elements, [subtract_known(each, [each.displaced]).elements for each in found])


def test_a_block_that_another_member_gets_does_not_wait_with_the_others() -> None:
    running, wanted = make_mappings(blocks={1: 1, 2: 2}), make_mappings(blocks={3: 1})
    assert keep_waiting(running, wanted) == make_mappings(blocks={2: 2, 3: 1}).elements


def test_an_own_address_that_another_member_gets_does_not_wait_even_if_they_get_ports_of_it_alone() -> None:
    address = int.from_bytes(bytes([198, 51, 100, 7]))
    running = make_mappings(own={1: address, 2: address + 1})
    for wanted in (make_mappings(own={3: address}), make_mappings(blocks={3: 5})):
        assert keep_waiting(running, wanted)["snat4_own"].keys() == wanted.elements["snat4_own"].keys() | keys(2)
        assert keep_waiting(running, wanted)["out4"].keys() == wanted.elements["out4"].keys() | keys(2)


def test_a_block_of_another_size_that_holds_some_of_the_ports_displaces_too() -> None:
    running, wanted = make_mappings(blocks={1: 3, 2: 4}), make_mappings(blocks={3: 1}, size=2048)
    assert keep_waiting(running, wanted)["snat4_block"].keys() == keys(2, 3).keys()


def test_who_had_the_block_beside_the_one_that_is_removed_displaces_nothing() -> None:
    running, wanted = make_mappings(blocks={1: 1, 2: 1}), make_mappings(blocks={2: 1})
    assert keep_waiting(running, wanted) == running.elements
    again = {"snat4_block": ElementChange(BLOCK, running.elements["snat4_block"], wanted.elements["snat4_block"])}
    assert not compute_removals(again, {}, 0)[ObjectKind.MAPPINGS].displaced, "the set is made anew"


PLACES = st.lists(st.tuples(st.integers(0, 8), st.integers(1, 5)), unique_by=(lambda each: each[0], lambda each: each[1]), max_size=5)


@given(PLACES, PLACES)
def test_no_two_members_hold_one_block_and_all_other_removals_wait(before: list[tuple[int, int]], after: list[tuple[int, int]]) -> None:
    running, wanted, free = dict(before), dict(after), {number for _key, number in before} - {number for _key, number in after}
    stays = {key: number for key, number in running.items() if key not in wanted and number in free}
    assert keep_waiting(make_mappings(blocks=running), make_mappings(blocks=wanted)) == make_mappings(blocks=stays | wanted).elements
