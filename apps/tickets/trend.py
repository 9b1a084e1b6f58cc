"""Summary of tickets for the dashboard of staff: tickets that wait for staff and for the asker, the longest wait, and recent counts."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import pgettext

from apps.lib.ui.charts import Chart, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.tickets import period_counts
from apps.tickets.models import Period, Ticket
from apps.tickets.selectors import OURS, count_by_turn


@dataclass(frozen=True)
class Trend:
    """Summary of tickets. ours, theirs: number that wait for staff, and for the asker; more: growth of open ones since midnight; came,
    solved: numbers of today; oldest: of those that wait for staff, the one untouched for longest; days: chart of the open ones at the
    end of each of 30 days, and now.
    """

    ours: int
    theirs: int
    more: int
    came: int
    solved: int
    oldest: Ticket | None
    days: Drawing

    @property
    def open_count(self) -> int:
        """Number of tickets that are not solved."""
        return self.ours + self.theirs

    @property
    def decrease(self) -> int:
        """Decrease of open tickets since midnight."""
        return -self.more


def compute_ticket_summary(now: datetime) -> Trend:
    """Return the summary, with a bounded number of queries."""
    counted, waiting = period_counts.list_period_counts("month", now), count_by_turn()
    today = counted[-1]
    starts, end = period_counts.list_period_starts(Period.Unit.DAY, counted)
    words = pgettext("tickets", "Open")
    days = draw_chart(Chart("tickets", words, starts, end, [ChartLine(words, [each.open for each in counted])], ChartUnit(("", "k"))))
    return Trend(waiting["ours"], waiting["waiting"], today.open - counted[-2].open, today.opened, today.solved, _find_oldest(), days)


def _find_oldest() -> Ticket | None:
    """Return the ticket that waits for staff untouched for longest.

    One query for each state uses its index; for both states at once the planner would scan all tickets in order of time.
    """
    found = [Ticket.objects.filter(state=state).order_by("touched_at", "id").first() for state in OURS]
    return min((each for each in found if each), key=lambda each: (each.touched_at, each.pk), default=None)
