"""Which networks are ours, so that nobody bans them: all pools, and where the gateways are managed from."""

from apps.bans.prefixes import Fault, NoBan
from apps.lib.fields import Prefix
from apps.network.models import Gateway, Pool


def own_networks() -> list[tuple[Prefix, str]]:
    """Each network with its name for people, in two queries."""
    pools = [(pool.prefix, f"pool {pool}") for pool in Pool.objects.order_by("prefix")]
    gateways = Gateway.objects.order_by("name")
    return pools + [(network, f"management network {network} of {each}") for each in gateways for network in each.management_networks]


def refuse_own(prefix: Prefix) -> None:
    """Raises NoBan when the prefix and one of our networks overlap."""
    for network, name in own_networks():
        if network.version == prefix.version and network.overlaps(prefix):
            raise NoBan(Fault.OWN, culprit=name)
