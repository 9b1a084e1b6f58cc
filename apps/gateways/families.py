"""Address families of a group: which gateway is primary for each, and their names in sentences."""

from collections.abc import Iterable

from apps.network.models import Gateway, GatewayGroup

FAMILIES = (4, 6)
FAMILY_CHOICES = [(family, f"IPv{family}") for family in FAMILIES]


def find_primary(group: GatewayGroup, family: int) -> Gateway | None:
    """Return the gateway that is primary for the family; None if none is."""
    return Gateway.objects.filter(group=group, **{f"carries{family}": True}).first()


def join_family_names(families: Iterable[int]) -> str:
    """Return the names of the families (4, 6), such as “IPv4 + IPv6”."""
    return " + ".join(f"IPv{family}" for family in families)
