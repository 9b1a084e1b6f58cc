"""Chart of the database's size, a point for each day."""

from datetime import UTC, datetime, time, timedelta
from typing import Final

from django.utils.translation import gettext as _

from apps.lib.ui.charts import Chart, ChartLine
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.operations.portal_health.selectors import list_daily_sizes

DAYS: Final = 90


def draw_sizes(now: datetime) -> Drawing | None:
    """Return the chart of the days since the first known one, at most ninety; None before the second day."""
    sizes = dict(list_daily_sizes(now, DAYS))
    if len(sizes) < 2:
        return None
    first, last = min(sizes), max(sizes)
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    starts = [datetime.combine(day, time(), UTC) for day in days]
    line = ChartLine(_("largest size"), [sizes.get(day) for day in days])
    return draw_chart(Chart("database-size", _("Size of the database"), starts, starts[-1] + timedelta(days=1), [line]))
