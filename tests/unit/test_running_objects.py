"""Objects read back from elements: the inverse of the compiler, and the differences between what a gateway runs and a policy."""

import json
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

import pytest
from hypothesis import given, settings

from apps.deployments.adoption.stored_objects import MOST_STORED, pack_differences, unpack_differences
from apps.deployments.adoption.words import describe_object
from firewall.compile import compile_policy
from firewall.object_differences import ObjectDifference, compare_objects
from firewall.policy import (
    AllowEntrySpec,
    BanDirection,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    Hole,
    NatMappingSpec,
    PinholeSpec,
    Policy,
    PrefixOwner,
    RateLimitSpec,
    ServerListenerSpec,
    SharingMode,
    TransportProtocol,
)
from firewall.ruleset import EMPTY, PLAIN, Element, Elements, Ruleset, Set, Type
from firewall.running_objects import PolicyObject, read_objects
from firewall.sets import FAMILIES, ObjectKind
from tests.example_counts import count_examples
from tests.policies import LATE, PREFIXES, PRIVATE, PUBLIC, SERVERS, SERVING, one_of_each, policies

NOW = 1_800_000_000
EVERYTHING = one_of_each()
ALL = compile_policy(EVERYTHING)
TCP, UDP = TransportProtocol.TCP, TransportProtocol.UDP
FIRST, SECOND, THIRD = (IPv4Address(PRIVATE + each) for each in (1, 2, 3))
WEB, MAIL = IPv4Address(PUBLIC + 7), IPv4Address(PUBLIC + 8)


def compare(running: Policy, wanted: Policy) -> list[tuple[PolicyObject | None, PolicyObject | None]]:
    held = compile_policy(running)
    found = compare_objects(held.sets, held.elements, compile_policy(wanted), NOW)
    assert found.unreadable == {}
    return [(pair.running and pair.running.spec, pair.database and pair.database.spec) for pair in found.differences]


def only_running(running: Policy, wanted: Policy) -> list[PolicyObject]:
    pairs = compare(running, wanted)
    assert all(database is None for _running, database in pairs), pairs
    return [spec for spec, _database in pairs if spec]


def drop_labels(spec: PolicyObject) -> PolicyObject:
    """Return what elements tell of an object: ids only of what has them in its comment."""
    if isinstance(spec, BlockedMemberSpec | RateLimitSpec | PrefixOwner | NatMappingSpec):
        return spec
    return replace(spec, id=0)


def list_objects(policy: Policy) -> list[PolicyObject]:
    """Return the policy's objects as elements tell of them, those without an owner with holding 0."""
    owners = dict(policy.owners)
    held: list[IPv4Address | IPv6Network] = [*policy.addresses, *policy.prefixes]
    listed: list[PolicyObject] = [
        *(PrefixOwner(each, owners.get(each, 0)) for each in held),
        *policy.mappings,
        *policy.forwards,
        *policy.pinholes,
        *policy.bans,
        *policy.allowed,
        *policy.blocks,
        *policy.listeners,
        *(each for each in policy.tariff_rates if each.up or each.down),
        *(each for each in policy.rate_limits if each.up or each.down),
    ]
    return sorted(map(drop_labels, listed), key=repr)


# --- The inverse of the compiler


def test_everything_that_is_compiled_is_read_back() -> None:
    assert sorted(map(drop_labels, only_running(EVERYTHING, Policy(SERVING))), key=repr) == list_objects(EVERYTHING)


def test_every_kind_of_object_that_has_elements_is_read_back() -> None:
    assert {each.kind for each in read_objects(ALL.sets, ALL.elements).objects} == {family.kind for family in FAMILIES}


@given(policies())
@settings(max_examples=count_examples(60), deadline=None)
def test_whatever_one_policy_has_is_an_object_of_the_gateway_and_nothing_of_it_is_lost(policy: Policy) -> None:
    lasting = drop_ends(policy)
    held = compile_policy(lasting)
    found = compare_objects(held.sets, held.elements, compile_policy(Policy(policy.gateway)), NOW)
    assert found.unreadable == {}
    again = build_policy(policy, found.differences)
    assert compile_policy(again).elements.keys() <= held.elements.keys()
    assert compare(again, lasting) == []


def drop_ends(policy: Policy) -> Policy:
    """Return the policy without ends and texts: these are no differences."""
    return replace(
        policy,
        bans=tuple(replace(each, expires=0, comment="") for each in policy.bans),
        allowed=tuple(replace(each, expires=0, comment="") for each in policy.allowed),
        blocks=tuple(replace(each, expires=0) for each in policy.blocks),
        listeners=tuple(replace(each, name="") for each in policy.listeners),
        rate_limits=tuple(replace(each, expires=0) for each in policy.rate_limits),
        tariff_rates=tuple(replace(each, expires=0) for each in policy.tariff_rates),
    )


def build_policy(like: Policy, differences: tuple[ObjectDifference, ...]) -> Policy:
    """Build a policy of what only the gateway has."""
    found = [each.running for each in differences if each.running]

    def pick[T](kind: type[T]) -> tuple[T, ...]:
        return tuple(each.spec for each in found if isinstance(each.spec, kind))

    owners = pick(PrefixOwner)
    rates = [(each.is_tariff, each.spec) for each in found if isinstance(each.spec, RateLimitSpec)]
    return Policy(
        like.gateway,
        addresses=tuple(each.prefix for each in owners if isinstance(each.prefix, IPv4Address)),
        prefixes=tuple(each.prefix for each in owners if isinstance(each.prefix, IPv6Network)),
        owners=tuple(each for each in owners if each.holding),
        mappings=pick(NatMappingSpec),
        forwards=pick(ForwardSpec),
        pinholes=pick(PinholeSpec),
        bans=pick(BanSpec),
        allowed=pick(AllowEntrySpec),
        blocks=pick(BlockedMemberSpec),
        listeners=pick(ServerListenerSpec),
        tariff_rates=tuple(spec for is_tariff, spec in rates if is_tariff),
        rate_limits=tuple(spec for is_tariff, spec in rates if not is_tariff),
    )


# --- Differences


@given(policies(), policies())
@settings(max_examples=count_examples(60), deadline=None)
def test_two_policies_without_a_difference_compile_to_the_same_elements_and_others_do_not(one: Policy, other: Policy) -> None:
    running, wanted = (compile_policy(drop_ends(replace(each, owners=()))) for each in (one, other))
    same = all(running.elements.get(name, {}) == wanted.elements.get(name, {}) for name in running.elements.keys() | wanted.elements)
    assert (compare_objects(running.sets, running.elements, wanted, NOW).differences == ()) == same


def test_a_gateway_that_runs_what_is_wanted_has_no_difference() -> None:
    assert compare(EVERYTHING, EVERYTHING) == []


def test_ends_and_texts_are_no_difference() -> None:
    assert compare(EVERYTHING, drop_ends(EVERYTHING)) == []


def test_what_has_ended_is_no_difference() -> None:
    ban = BanSpec(1, IPv4Network("203.0.113.0/24"), expires=NOW)
    assert compare(Policy(SERVING, bans=(ban,)), Policy(SERVING)) == []
    assert only_running(Policy(SERVING, bans=(replace(ban, expires=NOW + 1),)), Policy(SERVING)) == [replace(ban, id=0, expires=NOW + 1)]


def test_what_each_side_has_in_another_way_is_one_difference() -> None:
    changed = replace(
        EVERYTHING,
        mappings=(NatMappingSpec(FIRST, MAIL, SharingMode.OWN), *EVERYTHING.mappings[2:]),
        forwards=(ForwardSpec(1, TCP, WEB, 8443, SECOND, 443), *EVERYTHING.forwards[1:]),
        owners=(PrefixOwner(FIRST, 77), *EVERYTHING.owners[1:]),
    )
    assert compare(EVERYTHING, changed) == [
        (PrefixOwner(FIRST, 11), PrefixOwner(FIRST, 77)),
        (NatMappingSpec(FIRST, WEB), NatMappingSpec(FIRST, MAIL, SharingMode.OWN)),
        (NatMappingSpec(SECOND, MAIL, SharingMode.OWN), None),
        (ForwardSpec(0, TCP, WEB, 8443, FIRST, 443), ForwardSpec(0, TCP, WEB, 8443, SECOND, 443)),
    ]


def test_what_only_the_database_has_is_a_difference_without_a_running_object() -> None:
    assert compare(replace(EVERYTHING, bans=EVERYTHING.bans[1:]), EVERYTHING) == [
        (None, replace(EVERYTHING.bans[0], id=0)),
    ]


def test_an_address_without_an_owner_is_no_other_address() -> None:
    assert compare(replace(EVERYTHING, owners=()), EVERYTHING) == []


def test_a_rate_in_one_direction_is_shown_with_the_other() -> None:
    slower = replace(EVERYTHING.tariff_rates[0], up=125_000)
    [(running, database)] = compare(EVERYTHING, replace(EVERYTHING, tariff_rates=(slower, EVERYTHING.tariff_rates[1])))
    assert (running, database) == (EVERYTHING.tariff_rates[0], slower)


@pytest.mark.parametrize("gone", [BanDirection.IN, BanDirection.OUT])
def test_of_a_ban_that_the_database_has_in_one_direction_the_other_is_named(gone: BanDirection) -> None:
    both = BanSpec(0, IPv4Network("203.0.113.0/24"))
    other = {BanDirection.IN: BanDirection.OUT, BanDirection.OUT: BanDirection.IN}[gone]
    assert only_running(Policy(SERVING, bans=(both,)), Policy(SERVING, bans=(replace(both, direction=other),))) == [
        replace(both, direction=gone)
    ]


def test_ports_in_a_row_are_one_forward_as_far_as_they_lead_to_ports_in_a_row() -> None:
    forwards = (
        ForwardSpec(1, TCP, WEB, 8000, FIRST, 80, ports=3),
        ForwardSpec(2, TCP, WEB, 8003, FIRST, 83),
        ForwardSpec(3, TCP, WEB, 8004, FIRST, 22),
        ForwardSpec(4, UDP, WEB, 8005, FIRST, 23),
        ForwardSpec(5, TCP, WEB, 9000, FIRST, 9000, ports=1000),
        ForwardSpec(6, TCP, WEB, 10000, FIRST, 10000, ports=2),
    )
    assert only_running(Policy(SERVING, forwards=forwards), Policy(SERVING)) == [
        ForwardSpec(0, TCP, WEB, 8000, FIRST, 80, ports=4),
        ForwardSpec(0, TCP, WEB, 8004, FIRST, 22),
        ForwardSpec(0, TCP, WEB, 9000, FIRST, 9000, ports=1000),
        ForwardSpec(0, TCP, WEB, 10000, FIRST, 10000, ports=2),
        ForwardSpec(0, UDP, WEB, 8005, FIRST, 23),
    ]


def test_a_range_that_the_database_has_in_part_is_named_in_part() -> None:
    whole = ForwardSpec(1, TCP, WEB, 8000, FIRST, 80, ports=10)
    part = replace(whole, public_port=8003, private_port=83, ports=2)
    assert only_running(Policy(SERVING, forwards=(whole,)), Policy(SERVING, forwards=(part,))) == [
        ForwardSpec(0, TCP, WEB, 8000, FIRST, 80, ports=3),
        ForwardSpec(0, TCP, WEB, 8005, FIRST, 85, ports=5),
    ]


def test_pinholes_of_ports_in_a_row_are_one_and_others_are_not() -> None:
    inside = IPv6Address(PREFIXES + 7)
    pinholes = (PinholeSpec(1, Hole(inside, TCP, 22, 4)), PinholeSpec(2, Hole(inside, TCP, 27)), PinholeSpec(3, Hole(inside, UDP)))
    assert only_running(Policy(SERVING, pinholes=pinholes), Policy(SERVING)) == [replace(each, id=0) for each in pinholes]


# --- What no object is compiled to


def read_set(name: str, of: Set, elements: Elements) -> tuple[int, dict[str, int]]:
    found = compare_objects({name: of}, {name: elements}, EMPTY, NOW)
    return len(found.differences), dict(found.unreadable)


PORT = Set("forward4", (Type.IPV4, Type.PROTO, Type.PORT), 64, (Type.IPV4, Type.PORT))
TARGET = FIRST.packed + b"\0\x16\0\0"


@pytest.mark.parametrize(
    ("name", "of", "elements"),
    [
        ("mine", Set("mine", (Type.PORT,), 64), {b"\0\x16": PLAIN}),
        ("forward4", PORT, {WEB.packed + b"\x84\0\0\0\0\x16\0\0": Element(TARGET)}),
        ("forward4", PORT, {WEB.packed: Element(TARGET)}),
        ("forward4", PORT, {WEB.packed + b"\6\0\0\0\0\x16\0\0": Element(TARGET[:4])}),
        ("forward4", replace(PORT, value=()), {WEB.packed + b"\6\0\0\0\0\x16\0\0": PLAIN}),
        ("up4", Set("up4", (Type.IPV6,), 64, counter=True), {bytes(16): PLAIN}),
        ("bans4_24", Set("bans4_24", (Type.IPV4,), 64, counter=True, timeout=True), {IPv4Address("203.0.113.9").packed: PLAIN}),
        ("bans4_99", Set("bans4_99", (Type.IPV4,), 64, counter=True, timeout=True), {bytes(4): PLAIN}),
        ("up4", Set("up4", (), 64), {b"": PLAIN}),
    ],
)
def test_what_no_object_is_compiled_to_is_counted_and_hides_nothing_else(name: str, of: Set, elements: Elements) -> None:
    assert read_set(name, of, elements) == (0, {name: 1})
    with_it = Ruleset({}, {**ALL.sets, name: of}, {**ALL.elements, name: elements})
    found = compare_objects(with_it.sets, with_it.elements, compile_policy(replace(EVERYTHING, bans=())), NOW)
    assert {ObjectKind.BANS} <= {each.kind for each in found.differences} and found.unreadable[name] == 1


def test_a_comment_without_an_id_leaves_the_object_without_one() -> None:
    for comment in ("block ten", "block -1", "block ²", "", "12", "tariff 12"):
        held = {"blocked4": {THIRD.packed: Element(comment=comment, expires=LATE)}}
        [pair] = compare_objects(ALL.sets, held, EMPTY, NOW).differences
        assert pair.running is not None and pair.running.spec == BlockedMemberSpec(0, IPv4Network(THIRD), LATE)


def test_a_guarded_listener_differs_from_one_that_is_not() -> None:
    open_one = ServerListenerSpec(1, SERVERS[0], TCP, 443, "web")
    guarded = replace(open_one, window_scale=7)
    [(running, database)] = compare(Policy(SERVING, listeners=(guarded,)), Policy(SERVING, listeners=(open_one,)))
    assert (running, database) == (replace(guarded, id=0), replace(open_one, id=0))


# --- Stored, to be named later


@given(policies(), policies())
@settings(max_examples=count_examples(40), deadline=None)
def test_differences_that_are_stored_are_read_as_they_were(one: Policy, other: Policy) -> None:
    running = compile_policy(one)
    found = compare_objects(running.sets, running.elements, compile_policy(other), NOW).differences
    packed = json.loads(json.dumps(pack_differences(found)))
    of_gateway = [each for each in found if each.running]
    assert unpack_differences(packed["objects_found"]) == of_gateway[:MOST_STORED]
    assert packed["object_count"] == len(of_gateway)


def test_each_object_has_words_of_its_own() -> None:
    objects = [each.running for each in compare_objects(ALL.sets, ALL.elements, EMPTY, NOW).differences if each.running]
    words = [describe_object(each) for each in objects]
    assert len(set(words)) == len(words) == len(objects)
    assert "port forward UDP 198.51.100.7:6000–6004 → 10.16.0.2:7000–7004" in words
    assert "10.16.0.3 is mapped to 198.51.100.9, ports 2048–4095" in words
    assert "10.16.0.2 is mapped to 198.51.100.8, which it has for itself" in words
    assert "pinhole everything · 2001:db8:a0:100::9" in words and "pinhole TCP · 2001:db8:a0:1::8" in words
    assert "ban of 2001:db8:bad::/48, outgoing only" in words
    assert "listener TCP 25 on 192.0.2.129, “mail”, guarded, window scale 7" in words
    assert "IPv6 prefix 2001:db8:a0:100::/56" in words and "address 10.16.0.1" in words
