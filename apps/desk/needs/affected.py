"""Words for whom a fault of a gateway affects."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.result_cache import count_members
from apps.lib.ui import formats


def describe_affected(*, carries: bool) -> str:
    """Say whom it affects: members, if the gateway carries their packets."""
    if not carries:
        return _("It is on standby: if it took over, members would be without a connection.")
    number = count_members()["active"]
    words = ngettext("%(n)s active member is affected.", "%(n)s active members are affected.", number)
    return words % {"n": formats.format_number(number)}
