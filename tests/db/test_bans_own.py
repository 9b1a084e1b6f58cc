"""The network's own addresses cannot be banned: each one in a table is refused with its name, by services and imports alike."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from django.apps import apps
from django.db.models import Model

from apps.bans import services
from apps.bans.feed_import import import_feed
from apps.bans.feed_parser import parse_feed
from apps.bans.listeners.services import add_listener
from apps.bans.models import Ban
from apps.bans.own_networks import SPECIAL, list_own_networks
from apps.lib.errors import Problem
from apps.lib.fields import AddressField
from apps.network.models import Protection
from tests import factories

OTHERS = {"audit.enquiry", "nat.portforward", "nat.natmapping", "nat.pinhole", "events.event"}
"""Tables whose addresses lie in pools, or are anybody's."""


@pytest.fixture
def network(network: factories.Network) -> factories.Network:
    """A network with a value in each column that holds an address of the network itself."""
    factories.probes(network)
    factories.servers(network)
    group = {"group": network.group, "name": "web", "by": network.admin}
    add_listener(address=ip_address("192.0.2.60"), protocol="tcp", port=443, **group)  # type: ignore[arg-type]
    Protection.objects.create(group=network.group, bgp_peers=[ip_address("192.0.2.1")], ospf_peers=[ip_address("2001:db8:ffff::1")])
    for number, gateway in enumerate(network.gateways):
        type(gateway).objects.filter(pk=gateway.pk).update(address=f"172.31.9.{number + 1}", sync_address=f"172.31.255.{number + 1}")
    return network


def own_columns() -> list[tuple[type[Model], str]]:
    """Return the columns that hold one address of the network itself."""
    found = [model for model in apps.get_models() if not model._meta.label.endswith("Event") and model._meta.label_lower not in OTHERS]
    named = [(model, field.name) for model in found for field in model._meta.concrete_fields if isinstance(field, AddressField)]
    return [(model, name) for model, name in named if model._meta.app_label in ("network", "bans")]


def test_each_address_that_a_table_names_as_ours_is_refused_with_its_name(network: factories.Network) -> None:
    own = services.create_list(name="Own", by=network.admin)
    columns = own_columns()
    assert len(columns) >= 10
    for model, name in columns:
        known = [value for value in model._default_manager.values_list(name, flat=True) if value]
        assert known, f"{model.__name__}.{name}: the network has none"
        for address in known:
            with pytest.raises(Problem, match="would ban ourselves: it overlaps"):
                services.ban_prefix(list=own, prefix=ip_network(address), author=None)
    for peer in ("192.0.2.1", "2001:db8:ffff::1"):
        with pytest.raises(Problem, match=f"router {peer} of Lindenhof"):
            services.ban_prefix(list=own, prefix=peer, author=None)


@pytest.mark.parametrize("prefix", ["127.0.0.0/8", "127.0.0.1", "169.254.1.0/24", "fe80::/16", "ff02::1", "224.0.0.5", "::1", "0.0.0.0/8"])
def test_what_is_of_every_network_is_no_ban_in_a_feed_either(network: factories.Network, prefix: str) -> None:
    own = services.create_list(name="Own", by=network.admin)
    with pytest.raises(Problem, match="would ban ourselves: it overlaps"):
        services.ban_prefix(list=own, prefix=prefix, author=None)
    done = import_feed(list=own, feed=parse_feed(f"{prefix}\n203.0.113.77\n".encode()), by=network.admin, skip_invalid=True)
    assert (len(done.bad), done.added) == (1, 1) and str(Ban.objects.get().prefix) == "203.0.113.77/32"


def test_own_networks_cost_the_same_however_many_there_are(network: factories.Network, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(9):  # type: ignore[operator]  # the fixture is a function
        found = list_own_networks()
    assert len(found) > sum(map(len, SPECIAL.values())) and all(
        isinstance(each[0].network_address, IPv4Address | IPv6Address) for each in found
    )
