"""Rates in words."""

from django.utils.translation import gettext as _

from apps.lib import formats
from apps.members.models import Rated
from apps.traffic.rates.models import RateLimit


def rates(of: Rated) -> str:
    """“8 Mbit/s down, 2 Mbit/s up”; "" where neither way is limited."""
    down = [_("%(rate)s down") % {"rate": formats.rate(of.down_bits)}] if of.down_bits else []
    up = [_("%(rate)s up") % {"rate": formats.rate(of.up_bits)}] if of.up_bits else []
    return ", ".join(down + up)


def sentence(limit: RateLimit) -> str:
    """How fast, until when, why."""
    facts = {"rate": rates(limit), "reason": limit.get_reason_display()}
    if limit.valid.upper is None:
        return _("%(rate)s, until somebody releases it: %(reason)s.") % facts
    return _("%(rate)s, until %(until)s: %(reason)s.") % (facts | {"until": formats.full(limit.valid.upper)})
