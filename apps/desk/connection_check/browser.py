"""Findings from the member's browser: the address that it requested the page from, and whether it reached us over IPv4 and IPv6.

The script static/netzwart/check.js requests a small picture from a host that has an IPv4 address only, and from one that has an
IPv6 address only (`NETZWART_CHECK_IPV4_HOST`, `NETZWART_CHECK_IPV6_HOST`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

from django.conf import settings
from django.http import HttpRequest, QueryDict
from django.templatetags.static import static
from django.utils.translation import gettext as _

from apps.accounts import client_address
from apps.desk.connection_check.finding import Finding
from apps.lib.fields import Address
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.nat.selectors import list_member_mappings
from apps.network.models import Holding

SECONDS: Final = 6
PICTURE: Final = "netzwart/reached.svg"
SAID: Final = ("yes", "no")


@dataclass(frozen=True)
class IpVersionProbe:
    """An IP version, its name, and the URL of a picture that can be loaded over that version only."""

    version: int
    name: str
    url: str


def list_ip_version_probes() -> list[IpVersionProbe]:
    """Return the probes that are configured here."""
    return [
        IpVersionProbe(version, f"IPv{version}", f"//{host}{static(PICTURE)}") for version, host in settings.CHECK_HOSTS.items() if host
    ]


def check_source(request: HttpRequest, member: Member, holdings: Sequence[Holding]) -> list[Finding]:
    """Return a finding about the client's address, and whether it is the member's; none if the address is unknown."""
    at = ip_address(client_address.get_client_address(request))
    if str(at) == client_address.UNKNOWN:
        return []
    title = _("This page was requested over IPv%(version)d") % {"version": at.version}
    if _is_own_address(at, member, holdings):
        return [Finding("source", StateKind.OK, title, _("From %(address)s, over this connection.") % {"address": at})]
    words = _("From %(address)s, which is not one of these addresses: what this browser reaches says nothing about this connection.")
    return [Finding("source", StateKind.PLAIN, title, words % {"address": at})]


def _is_own_address(at: Address, member: Member, holdings: Sequence[Holding]) -> bool:
    public = {mapping.public for mapping in list_member_mappings(member)}
    return at in public or any(at.version == each.prefix.version and at in each.prefix for each in holdings)


def check_versions(said: QueryDict) -> list[Finding]:
    """Return a finding for each IP version from what the script reported; versions that it did not try are marked so."""
    return [_build_version_finding(way, said.get(f"ipv{way.version}", "")) for way in list_ip_version_probes()]


def _build_version_finding(way: IpVersionProbe, answer: str) -> Finding:
    title = _("Your browser over %(version)s") % {"version": way.name}
    if answer not in SAID:
        return Finding(f"browser{way.version}", StateKind.PLAIN, title, _("Not tried: this needs JavaScript."))
    words = _("It reached us.") if answer == "yes" else _("It did not reach us within %(seconds)d s.") % {"seconds": SECONDS}
    return Finding(f"browser{way.version}", StateKind.OK if answer == "yes" else StateKind.WARN, title, words)
