"""Names of address families, as sentences list them."""

from collections.abc import Iterable


def render_families(families: Iterable[int]) -> str:
    """Return the names of the families (4, 6), such as “IPv4 + IPv6”."""
    return " + ".join(f"IPv{family}" for family in families)
