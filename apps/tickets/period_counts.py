"""Statistics of tickets by day and week, from the history: opened, solved, reopened and open, and the time to the first answer.

Past days and weeks are kept as rows of Period; the current one is counted on request. The number of open tickets is computed backwards
from the present number, so that it is as exact as the history. A merged ticket counts as solved at the merge, a split-off one as opened
at the split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from apps.tickets.models import Period, Ticket

SETTLES: Final = timedelta(minutes=10)  # a transaction that began before midnight may commit after it
WINDOWS: Final = {"month": (Period.Unit.DAY, 30), "year": (Period.Unit.WEEK, 53)}
EVENTS: Final = """
    SELECT width_bucket(at, %(begins)s::timestamptz[]) AS n, count(*) FILTER (WHERE before IS NULL),
           count(*) FILTER (WHERE state = 'solved' AND before IS DISTINCT FROM 'solved'),
           count(*) FILTER (WHERE state <> 'solved' AND before = 'solved')
    FROM (SELECT at, state, CASE WHEN within IS NOT NULL OR label = 'insert' THEN within ELSE
                 (SELECT earlier.state FROM tickets_ticketevent earlier
                  WHERE earlier.pgh_obj_id = ticket AND earlier.pgh_id < event
                  ORDER BY earlier.pgh_id DESC LIMIT 1) END AS before
          FROM (SELECT pgh_created_at AS at, pgh_obj_id AS ticket, pgh_id AS event, pgh_label AS label, state,
                       lag(state) OVER (PARTITION BY pgh_obj_id ORDER BY pgh_id) AS within
                FROM tickets_ticketevent
                WHERE pgh_created_at >= %(first)s AND pgh_created_at < %(end)s AND pgh_label <> 'delete') each) happened
    GROUP BY n"""  # the previous event is looked up only for a ticket's first event in this time
ANSWERS: Final = """
    SELECT width_bucket(first_answered_at, %(begins)s::timestamptz[]) AS n, count(*),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM first_answered_at - opened_at))
    FROM tickets_ticket WHERE first_answered_at >= %(first)s AND first_answered_at < %(end)s AND first_answered_at > opened_at
    GROUP BY n"""


@dataclass(frozen=True, slots=True)
class PeriodCounts:
    """Numbers of a day or week. open: at its end, or now; median: seconds to the first answer, over tickets first answered in it."""

    begins: date
    opened: int
    solved: int
    reopened: int
    answered: int
    median: float | None
    open: int = 0


def list_period_counts(name: str, now: datetime) -> list[PeriodCounts]:
    """Return the numbers of 30 days ("month") or 53 weeks from Monday to Sunday ("year"), the oldest first; the last is under way."""
    unit, number = WINDOWS[name]
    begins = list_first_days(unit, number, now)
    store_ended_periods(unit, begins, now)
    kept = {row.begins: row for row in Period.objects.filter(unit=unit, begins__in=begins)}
    live = {each.begins: each for each in _count_periods(unit, [day for day in begins if day not in kept])}
    return _add_open_counts([_from_row(kept[day]) if day in kept else live[day] for day in begins])


def list_first_days(unit: str, number: int, now: datetime) -> list[date]:
    """Return the first days of the last `number` days or weeks, the oldest first."""
    today = timezone.localdate(now)
    last, step = (today - timedelta(days=today.weekday()), 7) if unit == Period.Unit.WEEK else (today, 1)
    return [last - timedelta(days=step * back) for back in reversed(range(number))]


def store_ended_periods(unit: str, begins: Sequence[date], now: datetime) -> int:
    """Save the periods that are over and not saved yet. Return their number. Idempotent, also when two processes do it at once."""
    over = [day for day in begins if _make_midnight(_compute_next_begin(unit, day)) + SETTLES <= now]
    known = set(Period.objects.filter(unit=unit, begins__in=over).values_list("begins", flat=True))
    missing = [day for day in over if day not in known]
    if missing:
        span = [day for day in over if missing[0] <= day <= missing[-1]]
        rows = [_to_row(unit, each) for each in _count_periods(unit, span) if each.begins in missing]
        Period.objects.bulk_create(rows, ignore_conflicts=True)
    return len(missing)


def store_all_past_periods(now: datetime) -> int:
    """Save all past periods that the pages show. Return their number."""
    return sum(store_ended_periods(unit, list_first_days(unit, number, now), now) for unit, number in WINDOWS.values())


def list_period_starts(unit: str, counted: Sequence[PeriodCounts]) -> tuple[list[datetime], datetime]:
    """Return the start of each period, and the end of the last."""
    return [_make_midnight(each.begins) for each in counted], _make_midnight(_compute_next_begin(unit, counted[-1].begins))


def _to_row(unit: str, of: PeriodCounts) -> Period:
    facts = {name: getattr(of, name) for name in ("begins", "opened", "solved", "reopened", "answered", "median")}
    return Period(unit=unit, **facts)


def _from_row(row: Period) -> PeriodCounts:
    return PeriodCounts(row.begins, row.opened, row.solved, row.reopened, row.answered, row.median)


def _count_periods(unit: str, begins: Sequence[date]) -> list[PeriodCounts]:
    """Return the numbers of consecutive periods."""
    if not begins:
        return []
    first = [_make_midnight(day) for day in begins]
    given = {"begins": first, "first": first[0], "end": _make_midnight(_compute_next_begin(unit, begins[-1]))}
    events, answers = _run_query(EVENTS, given), _run_query(ANSWERS, given)
    return [PeriodCounts(day, *events.get(n, (0, 0, 0)), *answers.get(n, (0, None))) for n, day in enumerate(begins, 1)]


def _run_query(sql: str, given: dict[str, Any]) -> dict[int, tuple[Any, ...]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL jit = off")  # JIT compilation took ten times as long as counting the days of a month
        cursor.execute(sql, given)
        return {row[0]: tuple(row[1:]) for row in cursor.fetchall()}


def _add_open_counts(counted: Sequence[PeriodCounts]) -> list[PeriodCounts]:
    ends = [Ticket.objects.order_by().exclude(state=Ticket.State.SOLVED).count()]
    for _earlier, later in reversed(list(pairwise(counted))):
        ends.append(ends[-1] - later.opened + later.solved - later.reopened)
    pairs = zip(counted, reversed(ends), strict=True)
    return [PeriodCounts(each.begins, each.opened, each.solved, each.reopened, each.answered, each.median, end) for each, end in pairs]


def _compute_next_begin(unit: str, day: date) -> date:
    return day + timedelta(days=7 if unit == Period.Unit.WEEK else 1)


def _make_midnight(day: date) -> datetime:
    return datetime.combine(day, time(), timezone.get_current_timezone())
