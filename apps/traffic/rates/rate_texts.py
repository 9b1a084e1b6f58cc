"""Texts for rates and rate limits."""

from django.utils.translation import gettext as _

from apps.lib.database.validity import is_valid_now
from apps.lib.ui import formats
from apps.members.models import RateProperties
from apps.network.models import Holding
from apps.traffic.fairshare.models import FairShare
from apps.traffic.rates.models import RateLimit


def format_rates(of: RateProperties) -> str:
    """Return the rates as text, like “8 Mbit/s down, 2 Mbit/s up”; "" where neither direction is limited."""
    down = [_("%(rate)s down") % {"rate": formats.format_rate(of.down_bits)}] if of.down_bits else []
    up = [_("%(rate)s up") % {"rate": formats.format_rate(of.up_bits)}] if of.up_bits else []
    return ", ".join(down + up)


def describe_limit(limit: RateLimit) -> str:
    """Return a sentence with the limit's rate, end and reason."""
    facts = {"rate": format_rates(limit), "reason": limit.get_reason_display()}
    if limit.reason == RateLimit.Reason.CONGESTION and limit.author_id is None and limit.valid.upper is not None:
        return _describe_congestion_limit(limit)
    if limit.valid.upper is None:
        return _("%(rate)s, until an administrator releases the limit: %(reason)s.") % facts
    return _("%(rate)s, until %(until)s: %(reason)s.") % (facts | {"until": formats.format_full_time(limit.valid.upper)})


def _describe_congestion_limit(limit: RateLimit) -> str:
    """Return the sentence for a limit made by the fair share of the member's gateway group."""
    held = Holding.objects.filter(is_valid_now(), member=limit.member_id).values("group")
    share = FairShare.objects.filter(group__in=held).first() or FairShare()
    facts = {"rate": format_rates(limit), "until": formats.format_full_time(limit.valid.upper), "minutes": share.minutes}
    return (
        _(
            "%(rate)s, until %(until)s: the uplink was full, and this connection was among the heaviest "
            "users of the last %(minutes)d minutes."
        )
        % facts
    )
