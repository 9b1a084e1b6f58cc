"""Holdings, counted in words."""

from django.utils.translation import ngettext

from apps.lib.ui.formats import number


def count_of_holdings(many: int) -> str:
    """“2 addresses”: an IPv6 prefix is one of them."""
    return ngettext("%(number)s address or prefix", "%(number)s addresses and prefixes", many) % {"number": number(many)}
