"""Our own networks, which cannot be banned: pools, gateways, virtual addresses, routers, servers, probe targets, special addresses."""

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.models import Listener, Notice, Reachable
from apps.bans.prefixes import BanFault, UnbannablePrefix
from apps.lib.fields import Prefix
from apps.network.models import Failover, Gateway, GatewayGroup, Pool, Protection

SPECIAL: Final = {
    gettext_lazy("addresses of this host"): ("0.0.0.0/8", "::/128"),
    gettext_lazy("loopback addresses"): ("127.0.0.0/8", "::1/128"),
    gettext_lazy("link-local addresses"): ("169.254.0.0/16", "fe80::/10"),
    gettext_lazy("multicast addresses"): ("224.0.0.0/4", "ff00::/8"),
}
"""Prefixes of every network (RFC 6890, RFC 5771): a ban of these would keep out the gateways' own neighbours, or nobody."""
type NamedNetwork = tuple[Prefix, str]


def list_own_networks() -> list[NamedNetwork]:
    """Return each network with its name for people, in nine queries whatever their number."""
    pools = [(pool.prefix, _("pool %(pool)s") % {"pool": pool}) for pool in Pool.objects.order_by("prefix")]
    managed = [(network, each) for each in Gateway.objects.order_by("name") for network in each.management_networks]
    text = _("management network %(network)s of %(gateway)s")
    networks = [(network, text % {"network": network, "gateway": gateway}) for network, gateway in managed]
    return [
        *pools,
        *networks,
        *_iter_gateway_addresses(),
        *_iter_virtual_addresses(),
        *_iter_probe_targets(),
        *_iter_routers(),
        *_iter_servers(),
        *_iter_special(),
    ]


def _iter_special() -> Iterator[NamedNetwork]:
    for name, prefixes in SPECIAL.items():
        yield from ((ip_network(prefix), f"{name} ({prefix})") for prefix in prefixes)


def _iter_gateway_addresses() -> Iterator[NamedNetwork]:
    for gateway in Gateway.objects.order_by("name"):
        for address in filter(
            None, (gateway.address, gateway.sync_address, gateway.probe_source4, gateway.probe_public4, gateway.probe_source6)
        ):
            yield ip_network(address), _("%(address)s of gateway %(gateway)s") % {"address": address, "gateway": gateway}


def _iter_virtual_addresses() -> Iterator[NamedNetwork]:
    for row in Failover.objects.select_related("group").order_by("id"):
        for each in row.addresses:
            yield ip_network(each.ip), _("%(address)s, a virtual address of %(group)s") % {"address": each.ip, "group": row.group}


def _iter_routers() -> Iterator[NamedNetwork]:
    for of in Protection.objects.select_related("group"):
        for peer in (*of.bgp_peers, *of.ospf_peers):
            yield ip_network(peer), _("router %(peer)s of %(group)s") % {"peer": peer, "group": of.group}


def _iter_servers() -> Iterator[NamedNetwork]:
    for listener in Listener.objects.order_by("id"):
        yield (
            ip_network(listener.address),
            _("%(address)s, where “%(listener)s” listens") % {"address": listener.address, "listener": listener},
        )
    for notice in Notice.objects.select_related("group"):
        for address in filter(None, (notice.ipv4, notice.ipv6)):
            yield ip_network(address), _("the notice page of %(group)s") % {"group": notice.group}
    for each in Reachable.objects.order_by("id"):
        yield ip_network(each.address), _("“%(name)s”, which blocked members can still reach") % {"name": each.name}


def _iter_probe_targets() -> Iterator[NamedNetwork]:
    """Yield the targets of probes: a gateway whose probe is kept out would pass none, and nothing more could be deployed."""
    for group in GatewayGroup.objects.order_by("name"):
        for target in filter(None, (group.probe_target4, group.probe_target6)):
            yield ip_network(target), _("%(target)s, the probe target of %(group)s") % {"target": target, "group": group}


def refuse_own_network(prefix: Prefix, own: Sequence[NamedNetwork] | None = None) -> None:
    """Raise UnbannablePrefix if the prefix overlaps one of our networks. own: our networks, if they are read already."""
    for network, name in list_own_networks() if own is None else own:
        if network.version == prefix.version and network.overlaps(prefix):
            raise UnbannablePrefix(BanFault.OWN, culprit=name)
