"""Renders failover.conf: what netzwart-failover needs to know on the gateway, as assignments of sh(1)."""

from collections.abc import Mapping

from firewall.failover.keepalived import order_addresses
from firewall.failover.spec import FAMILIES, FailoverGateway, ProgramPaths, StateCacheMode


def render_shell_settings(gateway: FailoverGateway, paths: ProgramPaths, digest: str, sums: Mapping[str, str]) -> str:
    """Return the whole file. digest: of all files together. sums: digests of the other files, by their paths.

    INSIDE4, INSIDE6: the address by which the family's carrier is known; "" for a family not elected.
    """
    elected = gateway.spec.list_families()
    inside = {family: order_addresses(gateway, family)[0].address if family in elected else "" for family in FAMILIES}
    values = {
        "LAN": gateway.interfaces.lan,
        **{f"INSIDE{family}": inside[family] for family in FAMILIES},
        "DIRECT": "yes" if gateway.spec.cache is StateCacheMode.DIRECT else "no",
        "CONNTRACKD": paths.conntrackd,
        "RUNTIME": paths.runtime,
        "DIGEST": digest,
        "SUMS": " ".join(f"{path}:{each}" for path, each in sums.items()),
    }
    return "# Written by Netzwart.\n" + "".join(f"{name}='{value}'\n" for name, value in values.items())
