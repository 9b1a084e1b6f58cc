"""Forwards, mappings and pinholes, counted in words."""

from django.utils.translation import ngettext

from apps.lib.formats import number


def count_of_forwards(many: int) -> str:
    """“2 port forwards”."""
    return ngettext("%(number)s port forward", "%(number)s port forwards", many) % {"number": number(many)}


def count_of_mappings(many: int) -> str:
    """“1 NAT mapping”."""
    return ngettext("%(number)s NAT mapping", "%(number)s NAT mappings", many) % {"number": number(many)}


def count_of_pinholes(many: int) -> str:
    """“3 IPv6 pinholes”."""
    return ngettext("%(number)s IPv6 pinhole", "%(number)s IPv6 pinholes", many) % {"number": number(many)}
