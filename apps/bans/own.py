"""Which networks are ours, so that nobody bans them: all pools, and where the gateways are managed from."""

from django.utils.translation import gettext as _

from apps.bans.prefixes import Fault, NoBan
from apps.lib.fields import Prefix
from apps.network.models import Gateway, Pool


def own_networks() -> list[tuple[Prefix, str]]:
    """Each network with its name for people, in two queries."""
    pools = [(pool.prefix, _("pool %(pool)s") % {"pool": pool}) for pool in Pool.objects.order_by("prefix")]
    managed = [(network, each) for each in Gateway.objects.order_by("name") for network in each.management_networks]
    text = _("management network %(network)s of %(gateway)s")
    return pools + [(network, text % {"network": network, "gateway": gateway}) for network, gateway in managed]


def refuse_own(prefix: Prefix) -> None:
    """Raises NoBan when the prefix and one of our networks overlap."""
    for network, name in own_networks():
        if network.version == prefix.version and network.overlaps(prefix):
            raise NoBan(Fault.OWN, culprit=name)
