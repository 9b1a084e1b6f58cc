"""The command that sets up a gateway's probe on its machine."""

from shlex import quote

from apps.network.models import Gateway

USUAL_INTERFACE = "probe0"  # of netzwart-probe


def build_probe_setup_command(gateway: Gateway) -> str:
    """Return the command for the addresses that the portal knows; "" if the gateway is not probed."""
    if not gateway.probe_interface:
        return ""
    addresses = {"--ipv4": gateway.probe_source4, "--ipv6": gateway.probe_source6}
    words = [word for option, address in addresses.items() if address for word in (option, str(address))]
    other = [] if gateway.probe_interface == USUAL_INTERFACE else ["--interface", quote(gateway.probe_interface)]
    return " ".join(["netzwart-probe", *words, *other])
