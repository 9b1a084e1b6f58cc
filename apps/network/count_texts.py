"""Texts for numbers of holdings."""

from django.utils.translation import ngettext

from apps.lib.ui.formats import format_number


def format_holding_count(many: int) -> str:
    """Return “2 addresses and prefixes”; an IPv6 prefix counts as one."""
    return ngettext("%(number)s address or prefix", "%(number)s addresses and prefixes", many) % {"number": format_number(many)}
