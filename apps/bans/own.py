"""Which networks are ours, so that nobody bans them: all pools, where the gateways are managed from, and what their probes connect to."""

from collections.abc import Iterator
from ipaddress import ip_network

from django.utils.translation import gettext as _

from apps.bans.prefixes import Fault, NoBan
from apps.lib.fields import Prefix
from apps.network.models import Gateway, GatewayGroup, Pool


def own_networks() -> list[tuple[Prefix, str]]:
    """Each network with its name for people, in three queries."""
    pools = [(pool.prefix, _("pool %(pool)s") % {"pool": pool}) for pool in Pool.objects.order_by("prefix")]
    managed = [(network, each) for each in Gateway.objects.order_by("name") for network in each.management_networks]
    text = _("management network %(network)s of %(gateway)s")
    return [*pools, *((network, text % {"network": network, "gateway": gateway}) for network, gateway in managed), *_probed()]


def _probed() -> Iterator[tuple[Prefix, str]]:
    """A gateway whose probe is kept out passes none: nothing more would be deployed."""
    for group in GatewayGroup.objects.order_by("name"):
        for target in filter(None, (group.probe_target4, group.probe_target6)):
            yield ip_network(target), _("%(target)s, which the probes of %(group)s connect to") % {"target": target, "group": group}


def refuse_own(prefix: Prefix) -> None:
    """Raises NoBan when the prefix and one of our networks overlap."""
    for network, name in own_networks():
        if network.version == prefix.version and network.overlaps(prefix):
            raise NoBan(Fault.OWN, culprit=name)
