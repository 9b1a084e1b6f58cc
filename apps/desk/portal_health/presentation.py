"""The page of the portal's health: whether all is usual, the figures that say so, what waits, and what the database does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from apps.desk.portal_health.finding_texts import build_portal_line, describe_missing_statements
from apps.desk.portal_health.key_figures import build_figures
from apps.desk.portal_health.work_streams import WorkStream, list_work_streams
from apps.gateways.health.presentation import FindingLine, HealthTruth, KeyFigure
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.operations.portal_health.backups import find_last_backup
from apps.operations.portal_health.figures import PortalFigures, RunningStatement, TableActivity
from apps.operations.portal_health.growth import compute_growth
from apps.operations.portal_health.judgement import FRESH
from apps.operations.portal_health.models import BackupNote, PortalFinding, PortalReading
from apps.operations.portal_health.rules import PORTAL_RULES
from apps.operations.portal_health.selectors import find_portal_reading, list_daily_sizes, list_portal_findings

LEAST_DEAD: Final = 1000  # rows; in smaller tables most rows are dead most of the time, which costs nothing


@dataclass(frozen=True)
class StatementLine:
    """A kind of statement: how often it ran, and the seconds that it took on average and in all."""

    calls: int
    mean: float
    total: float
    statement: str


@dataclass(frozen=True)
class TableLine:
    """A table's rows, and when it was last vacuumed, in words. share: dead rows in percent of all."""

    table: TableActivity
    share: float
    vacuumed: str


@dataclass(frozen=True)
class CoverLine:
    """A partitioned table, and the moment up to which it has partitions."""

    table: str
    until: datetime


@dataclass(frozen=True)
class PortalHealthView:
    """Everything that the page shows but its chart. why_no_statements: how to switch them on, "" if they are there."""

    truth: HealthTruth
    figures: Sequence[KeyFigure]
    findings: Sequence[FindingLine]
    streams: Sequence[WorkStream]
    tables: Sequence[TableLine]
    statements: Sequence[StatementLine]
    why_no_statements: str
    running: RunningStatement | None
    partitions: Sequence[CoverLine]
    backup: BackupNote | None
    version: str


def build_portal_view(now: datetime) -> PortalHealthView | None:
    """Build the view; None if the portal's health was never read. What is older than five minutes is shown with its time."""
    reading = find_portal_reading()
    figures = reading.parse_figures() if reading else None
    if reading is None or figures is None:
        return None
    found, backup = list_portal_findings(now), find_last_backup()
    lines = [build_portal_line(each) for each in found]
    growth = compute_growth(list_daily_sizes(now), figures.disk)
    return PortalHealthView(
        _build_truth(reading, lines, now),
        build_figures(figures, growth, backup, [each.rule for each in found], now),
        lines,
        list_work_streams(figures, _find_queue_behind(found), now),
        [_build_table(each) for each in figures.tables if each.dead >= LEAST_DEAD],
        [StatementLine(each.calls, each.mean / 1e6, each.total / 1e6, each.statement) for each in figures.statements or ()],
        describe_missing_statements(figures.why_no_statements) if figures.statements is None else "",
        figures.running,
        _list_covers(figures, reading.at),
        backup,
        figures.database.version,
    )


def _build_truth(reading: PortalReading, findings: Sequence[FindingLine], now: datetime) -> HealthTruth:
    """Return the worst that is known; that no fault was found only if a fresh reading shows none."""
    if now - reading.at > FRESH:
        text = _("No reading since %(time)s.") % {"time": formats.format_moment(reading.at, now, with_zone=True)}
        return HealthTruth(StateKind.WARN, text, _("The collector reads it each minute: see on the page System whether it works."))
    if findings:
        return HealthTruth(findings[0].state.kind, findings[0].title + ".", findings[0].evidence)
    given = {"number": len(PORTAL_RULES), "time": formats.format_moment(reading.at, now, with_zone=True)}
    return HealthTruth(
        StateKind.OK,
        _("No fault was found in the portal’s database, queues and backups."),
        _("%(number)d rules looked at the reading of %(time)s.") % given,
    )


def _find_queue_behind(found: Sequence[PortalFinding]) -> str:
    return next((str(each.evidence["queue"]) for each in found if each.rule == "queue_behind"), "")


def _build_table(table: TableActivity) -> TableLine:
    vacuumed = _("never") if table.vacuumed is None else _("%(duration)s ago") % {"duration": formats.format_duration(table.vacuumed)}
    return TableLine(table, 100 * table.dead / (table.live + table.dead), vacuumed)


def _list_covers(figures: PortalFigures, at: datetime) -> list[CoverLine]:
    return [CoverLine(each.table, at + timedelta(seconds=each.seconds)) for each in figures.partitions]
