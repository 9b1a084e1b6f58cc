from collections.abc import Callable
from datetime import timedelta
from ipaddress import IPv4Address
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from apps.audit.undo import find_last_event, undo_event
from apps.lib.errors import Conflict, Problem
from apps.nat import services
from apps.nat.forms import ForwardForm
from apps.nat.models import PortForward
from apps.nat.selectors import find_free_port, list_forwards
from apps.network import pool_lifecycle
from apps.network.models import Holding, Pool
from tests import factories
from tests.db.locks import run_after_waiting
from tests.db.page_client import signed_in, text


def add(network: factories.Network, host: str = "m1", port: int = 8443, protocol: str = "tcp") -> PortForward:
    resident = network.residents[host]
    return services.add_forward(
        holding=resident.holding,
        public=factories.PUBLIC,
        protocol=protocol,
        public_port=port,
        private_port=443,
        purpose=" Nextcloud ",
        by=network.admin,
    )


def test_a_forward_holds_from_now_on(network: factories.Network) -> None:
    forward = add(network)
    assert forward in list_forwards()
    assert forward.purpose == "Nextcloud"
    assert forward.valid.upper is None


def test_a_taken_port_names_its_holder_and_a_free_one(network: factories.Network) -> None:
    held = add(network, "m1", 25565)
    add(network, "m1", 25566)
    with pytest.raises(Problem) as caught:
        add(network, "m2", 25565)
    assert str(caught.value) == f"TCP 25565 on 198.51.100.7 is held by forward {held.pk} of Resident of m1. 25567 is free."
    assert (caught.value.fieldname, caught.value.offer, caught.value.culprit) == ("public_port", "25567", held)


def test_tcp_and_udp_are_two_ports(network: factories.Network) -> None:
    add(network, "m1", 5000, "tcp")
    add(network, "m2", 5000, "udp")
    assert list_forwards().count() == 2


def test_a_removed_forward_frees_its_port_and_stays_in_history(network: factories.Network) -> None:
    forward = add(network)
    services.remove_forward(forward=forward, by=network.admin)
    services.remove_forward(forward=forward, by=network.admin)
    assert forward not in list_forwards()
    assert PortForward.objects.filter(pk=forward.pk).exists()
    assert add(network, "m2").pk != forward.pk


def test_a_removed_forward_can_be_had_again_while_its_port_is_free(network: factories.Network) -> None:
    forward = add(network)
    services.remove_forward(forward=forward, by=network.admin)
    again = services.restore_forward(forward=forward, by=network.admin)
    assert (again.public_port, again.private_port) == (forward.public_port, forward.private_port)
    with pytest.raises(Problem, match="is held by forward"):
        services.restore_forward(forward=forward, by=network.admin)


def test_what_was_off_and_was_to_end_comes_back_off_and_with_its_end(network: factories.Network) -> None:
    resident, until = network.residents["m1"], timezone.now() + timedelta(days=1)
    given: Any = {"holding": resident.holding, "public": factories.PUBLIC, "protocol": "tcp", "public_port": 8443, "private_port": 443}
    forward = services.add_forward(**given, until=until, enabled=False, by=network.admin)
    services.remove_forward(forward=forward, by=network.admin)
    again = services.restore_forward(forward=PortForward.objects.get(pk=forward.pk), by=network.admin)
    assert (again.enabled, again.valid.upper) == (False, until)


def test_what_ended_by_itself_does_not_come_back_for_ever(network: factories.Network) -> None:
    forward: Any = add(network)
    PortForward.objects.filter(pk=forward.pk).update(valid=(forward.valid.lower, timezone.now()))
    forward.events.exclude(valid__endswith__isnull=False).delete()  # as if the forward had always had this end
    with pytest.raises(Problem, match="is in the past"):
        services.restore_forward(forward=PortForward.objects.get(pk=forward.pk), by=network.admin)


@pytest.mark.parametrize("port", [0, -1, 65536, 10**9])
def test_a_port_that_is_none_is_refused_at_its_field(network: factories.Network, port: int) -> None:
    with pytest.raises(Problem, match=f"{port} is not a port") as caught:
        add(network, port=port)
    assert caught.value.fieldname == "public_port"


def test_an_unknown_protocol_is_refused(network: factories.Network) -> None:
    with pytest.raises(Problem, match="has no ports"):
        add(network, protocol="icmp")


@pytest.mark.parametrize("foreign", ["203.0.113.9", "10.16.0.10", "8.8.8.8"])
def test_a_foreign_public_address_is_refused_with_the_pools(network: factories.Network, foreign: str) -> None:
    with pytest.raises(Problem, match=r"is not in a public pool of Lindenhof.*198\.51\.100\.0/24"):
        services.add_forward(
            holding=network.residents["m1"].holding,
            public=IPv4Address(foreign),
            protocol="tcp",
            public_port=80,
            private_port=80,
            by=network.admin,
        )


def test_a_forward_to_an_ipv6_prefix_is_refused(network: factories.Network) -> None:
    with pytest.raises(Problem, match="is not a private IPv4 address"):
        services.add_forward(
            holding=network.residents["m1"].prefix,
            public=factories.PUBLIC,
            protocol="tcp",
            public_port=80,
            private_port=80,
            by=network.admin,
        )


def test_a_forward_to_an_address_given_back_is_refused(network: factories.Network) -> None:
    holding = factories.make_holding(
        factories.member("Gone"),
        network.private,
        "10.16.5.5",
        valid=(timezone.now() - timedelta(days=2), timezone.now() - timedelta(days=1)),
    )
    with pytest.raises(Problem, match="does not hold"):
        services.add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=80, private_port=80, by=network.admin)


def test_a_stale_change_is_a_conflict_and_changes_nothing(network: factories.Network) -> None:
    forward = add(network)
    services.change_forward(forward=forward, version=forward.version, private_port=444, purpose="new", enabled=True, by=network.admin)
    with pytest.raises(Conflict):
        services.change_forward(forward=forward, version=1, private_port=445, purpose="old", enabled=False, by=network.admin)
    forward.refresh_from_db()
    assert (forward.private_port, forward.purpose, forward.enabled) == (444, "new", True)


def test_an_edited_forward_keeps_its_place_in_history_and_every_constraint(network: factories.Network) -> None:
    forward, taken = add(network), add(network, port=9443)
    client, path = signed_in(network.admin), f"/forwards/{forward.pk}/edit/"
    initial = ForwardForm(forward.holding.member, forward=forward).initial
    first = {f"forward-{name}": value for name, value in initial.items() if value is not None}
    inside = first | {"forward-private_port": "8080", "forward-purpose": "wiki"}
    assert client.post(path, inside).headers["Location"].endswith(f"?saved={forward.pk}#forwards")  # the same row

    forward.refresh_from_db()
    late = client.post(path, inside | {"forward-purpose": "blog"})
    assert late.status_code == 422 and "This port forward was changed or removed by someone else" in text(late) and "wiki" in text(late)
    again = inside | {"forward-version": forward.version, "forward-public_port": "9443", "forward-private_port": ""}
    held = text(client.post(path, again))
    assert f"held by forward {taken.pk} of" in held and "Use 9444" in held
    assert PortForward.objects.get(pk=forward.pk).valid.upper is None  # all or nothing

    services.change_forward(forward=forward, version=forward.version, private_port=8080, purpose="wiki", enabled=False, by=network.admin)
    again |= {"forward-version": forward.version, "forward-public_port": "9444-9445", "forward-protocol": "udp"}
    assert client.post(path, again).status_code == 302
    old, new = PortForward.objects.get(pk=forward.pk), PortForward.objects.latest("pk")
    assert old.public_ports == "8443" and old.valid.upper <= new.valid.lower
    assert (str(new), new.private_ports, new.purpose, new.enabled) == ("UDP 9444–9445 on 198.51.100.7", "9444–9445", "wiki", False)
    gone = client.post(path, again)
    assert gone.status_code == 422 and "has been removed or replaced" in text(gone)


def sql(statement: str, *parameters: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_the_database_itself_refuses_two_holders_of_one_port(network: factories.Network) -> None:
    forward = add(network)
    shared = "group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid, version"
    columns = f"{shared}, protocol, public_port, private_port, purpose, enabled"
    with pytest.raises(IntegrityError, match="portforward_port_taken"):
        sql(
            f"INSERT INTO nat_portforward (holding_id, {columns}) SELECT holding_id, {columns} FROM nat_portforward WHERE id = %s",
            forward.pk,
        )


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("public = '203.0.113.1'", "portforward_within_pool"),
        ("public_port = 0", "portforward_public_port"),
        ("public_port = 65536", "portforward_public_port"),
        ("private_port = 65536", "portforward_private_port"),
        ("protocol = 'xxx'", "portforward_protocol"),
        ("valid = tstzrange('2001-01-01', '2002-01-01')", "portforward_while_held"),
        ("valid = 'empty'", "portforward_valid_some_time"),
        ("held = tstzrange('2001-01-01', NULL)", "portforward_of_holding"),
        ("pool_prefix = '0.0.0.0/0'", "portforward_of_pool"),
        ("kind = 'prefix6'", "portforward_from_private_ipv4"),
    ],
)
def test_the_database_itself_refuses_a_nonsense_forward(network: factories.Network, change: str, constraint: str) -> None:
    forward = add(network)
    with pytest.raises(IntegrityError, match=constraint):
        sql(f"UPDATE nat_portforward SET {change} WHERE id = %s", forward.pk)


def test_the_database_refuses_a_holding_that_ends_before_its_forward(network: factories.Network) -> None:
    add(network)
    with pytest.raises(IntegrityError, match="while_held"):
        sql(
            "UPDATE network_holding SET valid = tstzrange(lower(valid), lower(valid) + interval '1 second') WHERE id = %s",
            network.residents["m1"].holding.pk,
        )


def test_the_database_refuses_an_address_held_twice(network: factories.Network) -> None:
    with pytest.raises(IntegrityError, match="holding_address_held_twice"):
        factories.make_holding(factories.member("Second"), network.private, "10.16.0.10")


def test_an_address_may_change_hands(network: factories.Network) -> None:
    now = timezone.now()
    first = factories.make_holding(
        factories.member("First"), network.private, "10.16.9.9", valid=(now - timedelta(days=9), now - timedelta(days=1))
    )
    second = factories.make_holding(factories.member("Second"), network.private, "10.16.9.9", valid=(now - timedelta(days=1), None))
    assert Holding.objects.filter(prefix__covers="10.16.9.9").count() == 2
    assert first.pk != second.pk


@pytest.mark.parametrize("address", ["192.168.0.1", "2001:db8::1", "10.16.0.0/24"])
def test_the_database_refuses_an_address_outside_its_pool(network: factories.Network, address: str) -> None:
    with pytest.raises(IntegrityError, match=r"holding_within_pool|holding_ipv4_is_one_address|holding_address_held_twice"):
        factories.make_holding(factories.member("Second"), network.private, address)


def test_the_database_refuses_overlapping_pools(network: factories.Network) -> None:
    with pytest.raises(IntegrityError, match="pool_overlaps"):
        factories.pool(network.group, "private4", "10.16.0.0/24")


def test_the_database_refuses_a_pool_of_the_wrong_family(network: factories.Network) -> None:
    with pytest.raises(IntegrityError, match="pool_family_fits_kind"):
        factories.pool(network.group, "private4", "2001:db8:ffff::/48")


def test_free_ports_are_found_from_the_wanted_one(network: factories.Network) -> None:
    add(network, port=65535)
    assert find_free_port(factories.PUBLIC, "tcp", 65535) == 1024
    assert find_free_port(factories.PUBLIC, "udp", 65535) == 65535


@pytest.mark.parametrize("version", ["", "abc", "9" * 5000, "\u0661"])
def test_a_switch_with_a_version_that_is_none_says_that_somebody_changed_it(network: factories.Network, version: str) -> None:
    answer = signed_in(network.admin).post(f"/forwards/{add(network).pk}/switch/", {"version": version})
    assert (answer.status_code, "This port forward was changed or removed by someone else" in text(answer)) == (422, True)


# --- While the public pool is changed

LAST = IPv4Address("198.51.100.200")  # in the second half of the pool


def enlarge_pool(pool: Pool) -> None:
    pool_lifecycle.enlarge_pool(pool=pool, version=pool.version, prefix=pool.prefix.supernet(), by=None)


def split_pool(pool: Pool) -> None:
    pool_lifecycle.split_pool(pool=pool, version=pool.version, length=pool.prefix.prefixlen + 1, by=None)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [enlarge_pool, split_pool])
def test_a_forward_is_opened_though_its_public_pool_becomes_larger_or_is_split_meanwhile(
    transactional_db: None, change: Callable[[Pool], None]
) -> None:
    network = factories.network()
    made = run_after_waiting(
        lambda: services.add_forward(
            holding=network.residents["m1"].holding, public=LAST, protocol="tcp", public_port=8443, private_port=443, by=network.admin
        ),
        lambda: change(network.public),
    )
    pool = Pool.objects.get(prefix__covers=LAST)
    assert (made.pool, made.pool_prefix) == (pool, pool.prefix)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", [enlarge_pool, split_pool])
def test_a_member_leaves_as_the_chosen_address_though_its_pool_becomes_larger_or_is_split_meanwhile(
    transactional_db: None, change: Callable[[Pool], None]
) -> None:
    network = factories.network()
    made = run_after_waiting(
        lambda: services.map_address(holding=network.residents["m1"].holding, public=LAST, by=network.admin),
        lambda: change(network.public),
    )
    pool = Pool.objects.get(prefix__covers=LAST)
    assert (made.public, made.pool, made.pool_prefix) == (LAST, pool, pool.prefix)


@pytest.mark.django_db(transaction=True)
def test_a_member_leaves_as_the_chosen_address_though_the_split_of_its_pool_is_undone_meanwhile(transactional_db: None) -> None:
    network = factories.network()
    split_pool(network.public)
    event = find_last_event(Pool, network.public.pk)
    assert event
    made = run_after_waiting(
        lambda: services.map_address(holding=network.residents["m1"].holding, public=LAST, by=network.admin),
        lambda: undo_event(model=Pool, event=event, by=network.admin),
    )
    pool = Pool.objects.get(prefix__covers=LAST)
    assert pool == network.public
    assert (made.public, made.pool, made.pool_prefix) == (LAST, pool, pool.prefix)
