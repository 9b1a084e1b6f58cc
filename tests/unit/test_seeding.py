"""A planned demo network: deterministic for a seed, and realistic."""

import re
from collections import Counter
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from apps.desk.seeding import lab_network
from apps.desk.seeding.names import to_ascii
from apps.desk.seeding.network_plan import NetworkPlan, make_plan

TODAY = date(2026, 11, 21)
SEEDING = Path(lab_network.__file__).parent
DIRECT = re.compile(r"objects\.(create|bulk_create|filter\([^)]*\)\.update)\(|copy_rows\(|COPY ")


def plan_network(seed: int = 1, members: int = 1_000) -> NetworkPlan:
    return make_plan(seed, members, lab_network.read_lab_network(members), TODAY)


@pytest.fixture(scope="module")
def town() -> NetworkPlan:
    return plan_network()


def test_the_same_seed_plans_the_same_network() -> None:
    assert plan_network(7, 300) == plan_network(7, 300)
    assert plan_network(7, 300).shares != plan_network(8, 300).shares


def test_numbers_mac_addresses_and_mailboxes_are_each_once(town: NetworkPlan) -> None:
    people = [share.person for share in town.shares]
    for values in ([each.number for each in people], [each.email for each in people], [own.mac for each in people for own in each.devices]):
        assert len(set(values)) == len(values)


def test_mac_addresses_are_for_documentation_or_locally_administered(town: NetworkPlan) -> None:
    macs = [own.mac for share in town.shares for own in share.person.devices]
    assert all(mac.startswith("00:00:5e:00:53:") for mac in macs[:256])
    assert all(mac.startswith("02:") for mac in macs[256:])


def test_mailboxes_are_ascii_whatever_the_script_of_the_name(town: NetworkPlan) -> None:
    assert all(share.person.email.isascii() for share in town.shares)
    assert any(not to_ascii(share.person.name) for share in town.shares)
    assert to_ascii("Łukasz Đặng-Öztürk") == "lukaszdang-oeztuerk"


def test_nobody_holds_what_another_holds_at_the_same_time(town: NetworkPlan) -> None:
    held = [each for share in town.shares for each in (*share.private, share.prefix) if each]
    by_prefix: dict[object, list[object]] = {}
    for each in sorted(held, key=lambda each: each.since):
        by_prefix.setdefault(each.prefix, []).append(each)
    assert all(
        earlier.until and earlier.until < later.since  # type: ignore[attr-defined]
        for holders in by_prefix.values()
        for earlier, later in pairwise(holders)
    )
    assert any(len(holders) > 1 for holders in by_prefix.values())


def test_a_million_members_have_a_second_pool_beside_the_labs_own() -> None:
    few, many = lab_network.read_lab_network(1_000), lab_network.read_lab_network(1_000_000)
    own, more = many.private
    assert few.private == (own,)
    assert not own.overlaps(more)
    assert own.num_addresses + more.num_addresses > 3_000_000


def test_most_are_active_some_pending_some_have_left_and_hold_nothing_now(town: NetworkPlan) -> None:
    states = Counter(share.person.state for share in town.shares)
    assert states["active"] > 800
    assert 20 <= states["pending"] <= 70
    assert 50 <= states["left"] <= 140
    for share in town.shares:
        held = [*share.private, share.prefix] if share.prefix else []
        assert bool(held) == (share.person.state != "pending")
        assert all(bool(each.until) == (share.person.state == "left") for each in held)


def test_every_seventh_forwards_one_to_six_ports_each_port_of_an_address_once(town: NetworkPlan) -> None:
    active = [own for share, own in zip(town.shares, town.forwards, strict=True) if share.person.state == "active"]
    having = [own for own in active if own]
    assert 0.10 < len(having) / len(active) < 0.20
    assert {len(own) for own in having} == {1, 2, 3, 4, 5, 6}
    ports = [
        (share.public, own.service.protocol, own.public_port)
        for share, forwards in zip(town.shares, town.forwards, strict=True)
        for own in forwards
    ]
    assert len(set(ports)) == len(ports)


def test_public_addresses_are_shared_by_some_and_not_by_others(town: NetworkPlan) -> None:
    sharers = Counter(share.public for share in town.shares if share.public)
    assert 1 in sharers.values()
    assert max(sharers.values()) >= 16


def test_everybody_has_one_to_four_devices_and_those_here_a_room_of_their_own(town: NetworkPlan) -> None:
    people = [share.person for share in town.shares]
    assert {len(each.devices) for each in people} == {1, 2, 3, 4}
    rooms = [each.room for each in people if each.room]
    assert len(set(rooms)) == len(rooms) == sum(each.state != "left" for each in people)
    assert 3 <= len({room.site for room in rooms}) <= 5


def test_nothing_lies_in_the_future_but_what_is_paid(town: NetworkPlan) -> None:
    people = [share.person for share in town.shares]
    assert all(each.since <= TODAY and (each.left is None or each.since < each.left < TODAY) for each in people)
    late = [each for each in people if each.state == "active" and each.paid_until and each.paid_until < TODAY]
    assert 0 < len(late) < 150


def test_a_large_network_gets_a_further_public_pool() -> None:
    many = plan_network(members=3_000)
    assert len(many.ground.public) == 2
    assert all(any(share.public in pool for pool in many.ground.public) for share in many.shares if share.public)


def test_only_these_parts_write_rows_without_a_service() -> None:
    """Thousands of rows that tests/db/test_seed_again.py enters again, readings that gateways send, and tickets of the past."""
    found = {file.name for file in SEEDING.glob("*.py") if DIRECT.search(file.read_text())}
    assert found == {"network_plan.py", "usage.py", "tickets.py"}
