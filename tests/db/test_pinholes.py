"""IPv6 pinholes: services, constraints, and what happens to them when a member's prefix changes or ends."""

from datetime import timedelta
from ipaddress import IPv6Address, ip_network
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from apps.deployments.approvals import effects
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.observed_state.pending_reasons import _iter_keys
from apps.lib.errors import Conflict, Problem
from apps.nat.pinholes import services
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.selectors import list_member_pinholes, list_member_prefixes, list_pinholes
from apps.network.models import Holding
from apps.network.services import release_holding
from firewall.policy import Hole, TransportProtocol
from firewall.sets import ObjectKind
from tests import factories

HOST = IPv6Address("2001:db8:a0:10::10")


def add(network: factories.Network, host: str = "m1", **changes: Any) -> Pinhole:
    given: dict[str, Any] = {"address": HOST, "protocol": "tcp", "port": 443, "ports": 1, "by": network.admin}
    return services.add_pinhole(holding=network.residents[host].prefix, **(given | changes))


@pytest.mark.parametrize(
    ("changes", "what", "hole"),
    [
        ({}, "TCP 443", Hole(HOST, TransportProtocol.TCP, 443)),
        ({"protocol": "udp", "port": 6000, "ports": 10}, "UDP 6000–6009", Hole(HOST, TransportProtocol.UDP, 6000, 10)),
        ({"protocol": "udp", "port": 0}, "UDP, all ports", Hole(HOST, TransportProtocol.UDP)),
        ({"protocol": "all", "port": 0}, "everything", Hole(HOST)),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_what_is_opened_reaches_the_policy(transactional_db: None, changes: dict[str, Any], what: str, hole: Hole) -> None:
    network = factories.network()
    pinhole = add(network, **changes)
    assert pinhole.scope_text == what
    for policy in policy_snapshot.take_snapshot(network.group).policies.values():
        assert [each.hole for each in policy.pinholes] == [hole]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {}),
        ({"port": 440, "ports": 10}, {"port": 449, "ports": 5}),
        ({"port": 0}, {}),
        ({}, {"port": 0}),
        ({"protocol": "all", "port": 0}, {}),
        ({}, {"protocol": "all", "port": 0}),
        ({"protocol": "udp", "port": 0}, {"protocol": "all", "port": 0}),
    ],
)
def test_what_is_open_already_is_refused_by_name(network: factories.Network, one: dict[str, Any], other: dict[str, Any]) -> None:
    first = add(network, **one)
    with pytest.raises(Problem) as caught:
        add(network, **other)
    assert str(caught.value) == f"{first.scope_text} is already open on {HOST} through pinhole {first.pk}. Change or remove that one first."
    assert caught.value.culprit == first


def test_what_is_kept_for_a_pinhole_that_is_switched_off_is_said_to_be_kept_and_not_open(network: factories.Network) -> None:
    first = add(network)
    services.switch_pinhole(pinhole=first, version=first.version, enabled=False, by=network.admin)
    with pytest.raises(Problem, match=f"is reserved for pinhole {first.pk}, which is switched off"):
        add(network)


@pytest.mark.parametrize("other", [{"port": 444}, {"protocol": "udp"}, {"address": HOST + 1}, {"protocol": "udp", "port": 0}])
def test_what_does_not_overlap_may_be_open_beside_it(network: factories.Network, other: dict[str, Any]) -> None:
    add(network)
    add(network, **other)
    assert list_pinholes().count() == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"address": IPv6Address("2001:db8:a0:11::10")}, "2001:db8:a0:11::10 is not in 2001:db8:a0:10::/64, which Resident of m1 holds."),
        ({"protocol": "icmp"}, "“icmp” is not a valid protocol"),
        ({"protocol": "all"}, "The protocol “everything” has no ports"),
        ({"port": 70_000}, "70000 is not a port"),
        ({"ports": 1001}, "1001 ports are too many for one pinhole"),
        ({"port": 65_530, "ports": 10}, "Begin at 65526 or lower"),
    ],
)
def test_what_cannot_be_opened_says_why(network: factories.Network, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem, match=said):
        add(network, **changes)


def test_an_ipv4_address_has_no_pinholes(network: factories.Network) -> None:
    with pytest.raises(Problem, match=r"10\.16\.0\.10/32 is not an IPv6 prefix"):
        services.add_pinhole(holding=network.residents["m1"].holding, address=HOST, protocol="tcp", port=1, by=network.admin)


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("address = '2001:db8:a0:11::10'", "pinhole_within_prefix"),
        ("prefix = '2001:db8::/32'", "pinhole_of_holding"),
        ("held = tstzrange('2001-01-01', NULL)", "pinhole_of_holding"),
        ("kind = 'private4'", "pinhole_of_ipv6_prefix"),
        ("protocol = 'xxx'", "pinhole_(protocol|ports)"),
        ("protocol = 'all'", "pinhole_ports"),
        ("port = 0", "pinhole_ports"),
        ("ports = 1001", "pinhole_ports"),
        ("port = 65536", "pinhole_ports"),
        ("valid = tstzrange('2001-01-01', '2002-01-01')", "pinhole_while_held"),
        ("valid = 'empty'", "pinhole_valid_some_time"),
    ],
)
def test_the_database_itself_refuses_a_nonsense_pinhole(network: factories.Network, change: str, constraint: str) -> None:
    pinhole = add(network)
    with pytest.raises(IntegrityError, match=constraint), connection.cursor() as cursor:
        cursor.execute(f"UPDATE nat_pinhole SET {change} WHERE id = %s", [pinhole.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_a_stale_change_is_a_conflict_and_changes_nothing(network: factories.Network) -> None:
    pinhole = add(network)
    given: dict[str, Any] = {"address": HOST, "protocol": "udp", "port": 53, "ports": 1, "purpose": "DNS", "enabled": True}
    services.change_pinhole(pinhole=pinhole, version=1, **given, by=network.admin)
    with pytest.raises(Conflict):
        services.change_pinhole(pinhole=pinhole, version=1, **(given | {"port": 54}), by=network.admin)
    pinhole.refresh_from_db()
    assert (pinhole.scope_text, pinhole.purpose, pinhole.version) == ("UDP 53", "DNS", 2)


def test_a_removed_pinhole_stays_in_history_and_comes_back(network: factories.Network) -> None:
    pinhole = add(network, purpose="web")
    for _ in range(2):
        services.remove_pinhole(pinhole=pinhole, by=network.admin)
    assert not list_pinholes().exists()
    again = services.restore_pinhole(pinhole=pinhole, by=network.admin)
    assert (again.scope_text, again.purpose) == (pinhole.scope_text, "web")
    with pytest.raises(Problem, match="is already open on"):
        services.restore_pinhole(pinhole=pinhole, by=network.admin)


def test_what_was_off_and_was_to_end_comes_back_off_and_with_its_end(network: factories.Network) -> None:
    until = timezone.now() + timedelta(days=3)
    pinhole = add(network, until=until)
    services.switch_pinhole(pinhole=pinhole, version=pinhole.version, enabled=False, by=network.admin)
    services.remove_pinhole(pinhole=pinhole, by=network.admin)
    again = services.restore_pinhole(pinhole=Pinhole.objects.get(pk=pinhole.pk), by=network.admin)
    assert (again.enabled, again.valid.upper) == (False, until)


def test_a_pinhole_ends_with_its_prefix(network: factories.Network) -> None:
    add(network)
    ended = release_holding(holding=network.residents["m1"].prefix, by=network.admin)
    assert [each.words for each in ended] == ["1 IPv6 pinhole"]
    assert not list_pinholes().exists()


def test_the_newest_prefix_is_last_and_one_without_a_beginning_first(network: factories.Network) -> None:
    of = network.residents["m1"]
    newer = network.residents["m2"].prefix
    Holding.objects.filter(pk=newer.pk).update(member=of.member, valid=(None, None))
    assert [each.pk for each in list_member_prefixes(of.member)] == [newer.pk, of.prefix.pk]


def test_pinholes_follow_to_another_prefix_under_the_same_interface_ids(network: factories.Network) -> None:
    until = timezone.now() + timedelta(days=3)
    member, old = network.residents["m1"].member, network.residents["m1"].prefix
    add(network, purpose="web", until=until)
    off = add(network, address=HOST + 5, protocol="all", port=0)
    services.switch_pinhole(pinhole=off, version=1, enabled=False, by=network.admin)
    new = services.replace_member_prefix(holding=old, follow=True, by=network.admin)
    web, other = list_member_pinholes(member)
    assert new.prefix != old.prefix
    assert (web.address, web.scope_text, web.purpose, web.valid.upper) == (new.prefix.network_address + 0x10, "TCP 443", "web", until)
    assert (other.address, other.scope_text, other.enabled) == (new.prefix.network_address + 0x15, "everything", False)
    old.refresh_from_db()
    assert old.valid.upper is not None
    assert Pinhole.objects.filter(holding=old).count() == 2


def test_pinholes_end_with_the_old_prefix_where_the_member_wishes_so(network: factories.Network) -> None:
    add(network)
    services.replace_member_prefix(holding=network.residents["m1"].prefix, follow=False, by=network.admin)
    assert not list_pinholes().exists()


def test_nothing_moves_when_one_address_has_no_place(network: factories.Network) -> None:
    member = factories.member("Small")
    wide = factories.pool(network.group, "prefix6", "2001:db8:f0::/44", member_length=56)
    large, small = (
        factories.make_holding(member, wide, "2001:db8:f0::/56"),
        factories.make_holding(member, network.prefixes, "2001:db8:a0:99::/64"),
    )
    for address in ("2001:db8:f0::7", "2001:db8:f0:1::7"):
        services.add_pinhole(holding=large, address=IPv6Address(address), protocol="tcp", port=80, by=network.admin)
    with pytest.raises(Problem, match=r"2001:db8:f0:1::7 does not fit into 2001:db8:a0:99::/64, which is smaller than 2001:db8:f0::/56"):
        services.move_pinholes(old=large, new=small, by=network.admin)
    assert list_pinholes().filter(holding=large).count() == 2


def test_pinholes_move_to_nobody_else(network: factories.Network) -> None:
    add(network)
    with pytest.raises(Problem, match="is not held by Resident of m1"):
        services.move_pinholes(old=network.residents["m1"].prefix, new=network.residents["m2"].prefix, by=network.admin)


@pytest.mark.django_db(transaction=True)
def test_a_prefix_that_gets_another_text_takes_no_pinhole_outside_with_it(transactional_db: None) -> None:
    network = factories.network()
    add(network)
    with pytest.raises(IntegrityError, match="pinhole_within_prefix"):
        Holding.objects.filter(pk=network.residents["m1"].prefix.pk).update(prefix=ip_network("2001:db8:a0:77::/64"))


@pytest.mark.django_db(transaction=True)
def test_what_waits_for_approval_is_found_by_the_pinhole_and_named_by_its_range(transactional_db: None) -> None:
    network = factories.network()
    made = [add(network), add(network, protocol="udp", port=6000, ports=10), add(network, protocol="udp", address=HOST + 1, port=0)]
    made.append(add(network, protocol="all", port=0, address=HOST + 2))
    ruleset = next(iter(compute_desired_state(network.group).rulesets.values()))
    found = list(
        effects.iter_affected_things({name: ruleset.elements[name] for name in ("pinhole6", "pinhole_protocol6", "pinhole_host6")})
    )
    assert {next(_iter_keys(each)) for each in made} <= {(ObjectKind.PINHOLES, thing.key) for thing in found}
    assert [(thing.words, thing.number) for thing in effects.merge_port_ranges(found)] == [
        (f"TCP 443 · {HOST}", 1),
        (f"UDP 6000–6009 · {HOST}", 10),
        (f"UDP · {HOST + 1}", 1),
        (f"{HOST + 2}", 1),
    ]
