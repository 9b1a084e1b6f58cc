"""Precomputed totals by member over long past spans: lists of all members in a week, month or year start from them.

Totals stay right: nothing is added to a level before the moment up to which it is complete, and a holding never changes its member.
"""

from datetime import datetime
from typing import Final

from django.db import connection, transaction

from apps.traffic.models import Level, Span
from apps.traffic.selectors import LARGE, build_member_sums_sql
from apps.traffic.windows import DAY, LISTS, WindowPreset, build_recent_window

PRESETS: Final = (WindowPreset.WEEK, WindowPreset.MONTH, WindowPreset.YEAR)
_FILL: Final = """
    INSERT INTO traffic_spanusage (span_id, member_id, up_octets, down_octets)
    SELECT %s, member, up, down FROM ({by_member}) s ORDER BY member
"""


@transaction.atomic
def refresh_totals(now: datetime) -> int:
    """Keep exactly one span for each preset, from the preset's start to the end of yesterday (UTC). Return how many were added up.

    Idempotent; there is new work once a day.
    """
    complete = Level.objects.select_for_update().get(name=Level.Name.DAY).complete_until
    wanted = {(build_recent_window(now, preset, LISTS).since, complete) for preset in PRESETS}
    known = {(span.since, span.until): span.pk for span in Span.objects.all()}
    missing = [(since, until) for since, until in wanted - known.keys() if until - since > DAY]
    for since, until in missing:
        _fill(since, until, now)
    Span.objects.filter(pk__in=[pk for ends, pk in known.items() if ends not in wanted]).delete()
    return len(missing)


def _fill(since: datetime, until: datetime, now: datetime) -> None:
    by_member, given = build_member_sums_sql(since, until, now)
    span = Span.objects.create(since=since, until=until)
    with connection.cursor() as cursor:
        cursor.execute(LARGE)
        cursor.execute(_FILL.format(by_member=by_member), [span.pk, *given])
