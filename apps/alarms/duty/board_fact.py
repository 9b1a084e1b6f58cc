"""The sentence on the dashboard that says who is on duty."""

from datetime import datetime

from django.utils.translation import gettext as _

from apps.alarms.duty.selectors import find_on_duty, is_rota_used
from apps.lib.ui import formats


def describe_on_duty(now: datetime) -> str:
    """Return “On duty: NAME until …”, or that nobody is; "" without a rota."""
    on_duty = find_on_duty(now)
    if on_duty is None:
        return _("nobody on duty") if is_rota_used() else ""
    if on_duty.until is None:
        return _("On duty: %(who)s") % {"who": on_duty.person.name}
    until = formats.format_moment(on_duty.until, now, with_seconds=False)
    return _("On duty: %(who)s until %(time)s") % {"who": on_duty.person.name, "time": until}
