"""Port forwards and IPv6 pinholes of everybody, found by what somebody types: a port, an address, a name, what it is for."""

from django.db.models import Q, QuerySet

from apps.lib.fields import Prefix
from apps.lib.port_ranges import parse_span
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.selectors import build_port_filter, list_pinholes
from apps.nat.selectors import build_ports_filter, list_forwards
from firewall.addresses import parse_prefix


def find_forwards(text: str) -> QuerySet[PortForward]:
    """By public address and port; of a port or a range all that share one with it."""
    found, text = list_forwards().order_by("public", "protocol", "public_port", "id"), text.strip()
    ports, prefix = parse_span(text), _parse_prefix(text)
    if ports:
        return found.filter(build_ports_filter(ports[0], ports[0] + ports[1] - 1))
    if prefix:
        return found.filter(Q(public__within=prefix) | Q(holding__prefix__within=prefix))
    return found.filter(_build_filter(text)) if text else found


def find_pinholes(text: str) -> QuerySet[Pinhole]:
    """By address, protocol and port; of a port all that name it."""
    found, text = list_pinholes().order_by("address", "protocol", "port", "id"), text.strip()
    ports, prefix = parse_span(text), _parse_prefix(text)
    if ports:
        return found.filter(build_port_filter(*ports))
    if prefix:
        return found.filter(address__within=prefix)
    return found.filter(_build_filter(text)) if text else found


def _build_filter(text: str) -> Q:
    return Q(holding__member__name__icontains=text) | Q(purpose__icontains=text)


def _parse_prefix(text: str) -> Prefix | None:
    try:
        return parse_prefix(text, strict=False)
    except ValueError:
        return None
