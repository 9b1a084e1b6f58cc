"""Search in all members' port forwards and IPv6 pinholes: by a port, an address, a member's name, or the purpose."""

from django.db.models import Q, QuerySet

from apps.lib.fields import Prefix
from apps.lib.port_ranges import parse_port_range
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.selectors import build_port_filter, list_pinholes
from apps.nat.selectors import build_ports_filter, list_forwards
from firewall.addresses import parse_prefix


def find_forwards(text: str) -> QuerySet[PortForward]:
    """Return the matching forwards by public address and port. A port or range finds all forwards that overlap it."""
    found, text = list_forwards().order_by("public", "protocol", "public_port", "id"), text.strip()
    ports, prefix = parse_port_range(text), _parse_prefix(text)
    if ports:
        return found.filter(build_ports_filter(ports[0], ports[0] + ports[1] - 1))
    if prefix:
        return found.filter(Q(public__within=prefix) | Q(holding__prefix__within=prefix))
    return found.filter(_build_filter(text)) if text else found


def find_pinholes(text: str) -> QuerySet[Pinhole]:
    """Return the matching pinholes by address, protocol and port. A port finds all pinholes that name it, but not those of all ports."""
    found, text = list_pinholes().order_by("address", "protocol", "port", "id"), text.strip()
    ports, prefix = parse_port_range(text), _parse_prefix(text)
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
