"""Holdings, counted in words."""

from django.utils.translation import ngettext

from apps.lib.ui.formats import format_number


def format_holding_count(many: int) -> str:
    """“2 addresses”: an IPv6 prefix is one of them."""
    return ngettext("%(number)s address or prefix", "%(number)s addresses and prefixes", many) % {"number": format_number(many)}
