"""Listeners: which addresses they may have, what they exclude there, and what reaches the gateways."""

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.bans.listeners import services
from apps.bans.listeners.selectors import list_listeners
from apps.bans.models import Listener
from apps.deployments.desired_state import policy_snapshot
from apps.lib.errors import Conflict, Problem
from apps.nat.services import add_forward, remove_forward
from apps.network.services import add_pool
from tests import factories

SERVER = "192.0.2.130"


def listen(network: factories.Network, name: str = "web", address: str = SERVER, port: int = 443, protocol: str = "tcp") -> Listener:
    return services.add_listener(
        group=network.group, name=name, address=ip_address(address), protocol=protocol, port=port, by=network.admin
    )


def forward(network: factories.Network, port: int = 8443) -> object:
    return add_forward(
        holding=network.residents["m1"].holding,
        public=factories.PUBLIC,
        protocol="tcp",
        public_port=port,
        private_port=22,
        by=network.admin,
    )


def test_two_servers_cannot_listen_at_one_place(network: factories.Network) -> None:
    listen(network)
    with pytest.raises(Problem, match=r"“web” already listens on TCP 443 of 192\.0\.2\.130"):
        listen(network, "other")


@pytest.mark.parametrize("address", ["10.16.0.10", "2001:db8:a0:77::1"])
def test_a_listener_in_a_pool_of_members_is_refused_and_names_the_pool(network: factories.Network, address: str) -> None:
    with pytest.raises(Problem, match=r"is in the members' pool p.* A server needs an address outside"):
        listen(network, address=address)


def test_a_pool_around_a_listener_is_refused_and_names_it(network: factories.Network) -> None:
    listen(network, address="10.48.0.5")
    with pytest.raises(Problem, match=r"The listener web \(10\.48\.0\.5\) is in 10\.48\.0\.0/16"):
        add_pool(name="New", kind="private4", prefix=ip_network("10.48.0.0/16"), group=network.group, by=network.admin)


def test_a_listener_on_the_public_side_of_a_forward_is_refused(network: factories.Network) -> None:
    held = forward(network)
    with pytest.raises(Problem, match=r"TCP 8443 on 198\.51\.100\.7 is already the public side of port forward \d+"):
        listen(network, address=str(factories.PUBLIC), port=8443)
    remove_forward(forward=held, by=network.admin)  # type: ignore[arg-type]
    assert listen(network, address=str(factories.PUBLIC), port=8443).pk


def test_a_forward_from_where_a_server_listens_is_refused_and_names_it(network: factories.Network) -> None:
    listen(network, "mail", address=str(factories.PUBLIC), port=25)
    with pytest.raises(Problem, match=r"“mail”, a server of the network, listens on TCP 25 of 198\.51\.100\.7"):
        forward(network, 25)
    assert forward(network, 26)


def test_only_tcp_is_guarded_with_a_window_scale_that_tcp_has(network: factories.Network) -> None:
    made = listen(network)
    given: dict[str, Any] = {"name": "web", "address": made.address, "port": 443, "enabled": True, "note": "", "by": network.admin}
    with pytest.raises(Problem, match="Only TCP has SYNs"):
        services.change_listener(listener=made, version=1, protocol="udp", guarded=True, **given)
    with pytest.raises(Problem, match="15 is not a window scale"):
        services.change_listener(listener=made, version=1, protocol="tcp", guarded=True, window_scale=15, **given)
    services.change_listener(listener=made, version=1, protocol="tcp", guarded=True, window_scale=10, **given)
    assert (made.guarded, made.window_scale) == (True, 10)
    for wrong, name in (({"protocol": "udp"}, "listener_guard_is_for_tcp"), ({"window_scale": 15}, "listener_window_scale")):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            Listener.objects.filter(pk=made.pk).update(**wrong)


def test_two_admins_cannot_change_a_listener_at_once(network: factories.Network) -> None:
    made = listen(network)
    given = {"name": "web", "address": made.address, "protocol": "tcp", "port": 80, "enabled": True, "note": "", "by": network.admin}
    services.change_listener(listener=made, version=1, **given)
    assert made.port == 80
    with pytest.raises(Conflict, match="while you were editing"):
        services.change_listener(listener=made, version=1, **given)


@pytest.mark.parametrize("search", ["WEB", "443", "192.0.2", "secure"])
def test_a_listener_is_found_by_name_port_address_and_note(network: factories.Network, search: str) -> None:
    made = listen(network)
    listen(network, "mail", "2001:db8:99::25", 25)
    Listener.objects.filter(pk=made.pk).update(note="the secure one")
    assert list(list_listeners(search)) == [made]


def test_a_gateways_other_interface_cannot_be_that_of_servers(network: factories.Network) -> None:
    with pytest.raises(Problem, match="nat-1 already uses wan0 as another interface"):
        services.set_server_facing_interface(gateway=network.gateways[0], name="wan0", by=network.admin)


@pytest.mark.django_db(transaction=True)
def test_listeners_that_are_on_and_servers_interfaces_reach_the_gateways(transactional_db: None) -> None:
    network = factories.network()
    web, off = listen(network), listen(network, "old", port=80)
    Listener.objects.filter(pk=off.pk).update(enabled=False)
    services.set_server_facing_interface(gateway=network.gateways[0], name="srv0", by=network.admin)
    policies = policy_snapshot.take_snapshot(network.group).policies
    assert [policies[each.pk].gateway.interfaces.server for each in network.gateways] == ["srv0", ""]
    Listener.objects.filter(pk=listen(network, port=25).pk).update(guarded=True, window_scale=10)
    policies = policy_snapshot.take_snapshot(network.group).policies
    found = [(each.id, str(each.address), each.port, each.window_scale) for each in policies[network.gateways[0].pk].listeners]
    assert found[0] == (web.pk, SERVER, 443, None) and found[1][1:] == (SERVER, 25, 10)
