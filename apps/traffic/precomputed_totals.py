"""Long times that are over, added up once by member: lists of everybody in a week, a month or a year begin with them.

To what a level is complete up to nothing is added any more, and a holding's member stays: so what a span says stays right.
"""

from datetime import datetime
from typing import Final

from django.db import connection, transaction

from apps.traffic.models import Level, Span
from apps.traffic.selectors import LARGE, build_member_sums_sql
from apps.traffic.windows import DAY, LISTS, Preset, build_recent_window

PRESETS: Final = (Preset.WEEK, Preset.MONTH, Preset.YEAR)
_FILL: Final = """
    INSERT INTO traffic_spanusage (span_id, member_id, up_octets, down_octets)
    SELECT %s, member, up, down FROM ({by_member}) s ORDER BY member
"""


@transaction.atomic
def refresh_totals(now: datetime) -> int:
    """Let there be a span for each preset, from its begin to the end of yesterday, and no other; how many were added up.

    Doing it twice does nothing twice. Once a day there is something to do.
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
