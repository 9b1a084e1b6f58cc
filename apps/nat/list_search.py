"""Port forwards and IPv6 pinholes of everybody, found by what somebody types: a port, an address, a name, what it is for."""

from django.db.models import Q, QuerySet

from apps.lib.fields import Prefix
from apps.lib.port_ranges import read
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.selectors import names_port, pinholes
from apps.nat.selectors import forwards, on_ports
from firewall.addresses import parse_prefix


def find_forwards(text: str) -> QuerySet[PortForward]:
    """By public address and port; of a port or a range all that share one with it."""
    found, text = forwards().order_by("public", "protocol", "public_port", "id"), text.strip()
    ports, prefix = read(text), _prefix(text)
    if ports:
        return found.filter(on_ports(ports[0], ports[0] + ports[1] - 1))
    if prefix:
        return found.filter(Q(public__within=prefix) | Q(holding__prefix__within=prefix))
    return found.filter(_said(text)) if text else found


def find_pinholes(text: str) -> QuerySet[Pinhole]:
    """By address, protocol and port; of a port all that name it."""
    found, text = pinholes().order_by("address", "protocol", "port", "id"), text.strip()
    ports, prefix = read(text), _prefix(text)
    if ports:
        return found.filter(names_port(*ports))
    if prefix:
        return found.filter(address__within=prefix)
    return found.filter(_said(text)) if text else found


def _said(text: str) -> Q:
    return Q(holding__member__name__icontains=text) | Q(purpose__icontains=text)


def _prefix(text: str) -> Prefix | None:
    try:
        return parse_prefix(text, strict=False)
    except ValueError:
        return None
