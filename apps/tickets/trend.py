"""Tickets in brief, for the dashboard of those who answer: whose turn it is, since when somebody waits, and how many were open lately."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import pgettext

from apps.lib.ui.charts import Chart, ChartLine, ChartUnit
from apps.lib.ui.charts.drawing import Drawing, draw_chart
from apps.tickets import counting
from apps.tickets.models import Period, Ticket
from apps.tickets.selectors import OURS, count_by_turn


@dataclass(frozen=True)
class Trend:
    """ours, theirs: tickets that wait for us, and for whoever asked. more: open ones, since midnight; came, solved: today. oldest: of
    ours the one that nobody wrote to for longest. days: how many were open at the end of each of 30, and now."""

    ours: int
    theirs: int
    more: int
    came: int
    solved: int
    oldest: Ticket | None
    days: Drawing

    @property
    def open(self) -> int:
        """All that are not solved."""
        return self.ours + self.theirs

    @property
    def fewer(self) -> int:
        """Since midnight, where it is not more."""
        return -self.more


def compute_trend(now: datetime) -> Trend:
    """In a bounded number of queries."""
    counted, waiting = counting.list_counts("month", now), count_by_turn()
    today = counted[-1]
    starts, end = counting.list_starts(Period.Unit.DAY, counted)
    words = pgettext("tickets", "Open")
    days = draw_chart(Chart("tickets", words, starts, end, [ChartLine(words, [each.open for each in counted])], ChartUnit(("", "k"))))
    return Trend(waiting["ours"], waiting["waiting"], today.open - counted[-2].open, today.opened, today.solved, _find_oldest(), days)


def _find_oldest() -> Ticket | None:
    """The first of each state by its index: over both at once the planner goes through all tickets in order of time."""
    found = [Ticket.objects.filter(state=state).order_by("touched_at", "id").first() for state in OURS]
    return min((each for each in found if each), key=lambda each: (each.touched_at, each.pk), default=None)
