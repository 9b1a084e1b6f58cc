"""Status of the portal itself: roles with their heartbeats, jobs with their last runs, tables with their sizes."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.desk.portal_health import program_texts
from apps.lib.ui.states import StateKind, StateLabel
from apps.operations import heartbeats, host_heartbeats, jobs
from apps.operations.models import JobRecord, RoleHeartbeat
from apps.operations.registry import TableBoundKind
from apps.operations.table_growth import GROWTH_DAYS, TableTrend, list_table_trends
from apps.operations.table_sizes import TableSize

BOUNDS: dict[TableBoundKind, Promise] = {
    TableBoundKind.PEOPLE: gettext_lazy("what people enter"),
    TableBoundKind.CODE: gettext_lazy("a fixed number"),
    TableBoundKind.HISTORY: gettext_lazy("history, kept on purpose"),
    TableBoundKind.PRUNED: gettext_lazy("pruning of old rows"),
}


@dataclass(frozen=True)
class RoleRow:
    """A role of the portal's processes. follows: the consequence of its fault, "" while it works. hosts: where it runs, if on several."""

    name: str
    state: StateLabel
    row: RoleHeartbeat | None
    follows: str
    hosts: str


@dataclass(frozen=True)
class JobRow:
    """A job with its last run."""

    name: str
    title: str
    state: StateLabel
    job: JobRecord


@dataclass(frozen=True)
class TableSizeRow:
    """A table with its size. bound: what limits its growth; kept: how long rows are kept. month: octets that it grew by in 30 days at its
    present pace; None if that is not known.
    """

    table: TableSize
    bound: str
    kept: str
    month: int | None


@dataclass(frozen=True)
class SystemStatus:
    """Everything that the page shows. octets: of all tables together; faults: number of roles and jobs with a fault."""

    roles: list[RoleRow]
    jobs: list[JobRow]
    tables: list[TableSizeRow]
    octets: int
    faults: int


def build_system_status(now: datetime) -> SystemStatus:
    """Read the status of the portal's programs, jobs and tables."""
    roles, of_jobs, tables = _list_roles(now), _list_jobs(now), [build_table_row(each) for each in list_table_trends(now)]
    states = [*(each.state for each in roles), *(each.state for each in of_jobs)]
    faults = sum(state.kind not in (StateKind.OK, StateKind.PLAIN) for state in states)
    return SystemStatus(roles, of_jobs, tables, sum(each.table.octets for each in tables), faults)


def _list_roles(now: datetime) -> list[RoleRow]:
    faults, known = {fault.role: fault for fault in heartbeats.list_process_faults(now)}, heartbeats.list_heartbeats()
    rows, hosts = [], host_heartbeats.list_hosts()
    lacking = {role: each for each in program_texts.list_host_faults(faults.values(), now) for role in each.roles}
    for role in heartbeats.list_expected_roles():
        fault = faults.get(role)
        state = StateLabel(StateKind.BAD, program_texts.describe_role_fault(fault)) if fault else StateLabel(StateKind.OK, _("Works"))
        follows = str(program_texts.CONSEQUENCES[role]) if fault else ""
        if role in lacking:
            words, follows = program_texts.describe_host_fault(lacking[role])
            state = StateLabel(StateKind.WARN, words)
        places = hosts.get(role, [])
        rows.append(RoleRow(str(role.label), state, known.get(role), follows, ", ".join(places) if len(places) > 1 else ""))
    return rows


def _list_jobs(now: datetime) -> list[JobRow]:
    faults = {fault.name: fault for fault in jobs.list_job_faults(now)}
    return [
        JobRow(job.name, program_texts.render_job_title(job.name), _build_state(job, faults), job)
        for job in JobRecord.objects.order_by("name")
    ]


def _build_state(job: JobRecord, faults: dict[str, jobs.JobFault]) -> StateLabel:
    if job.failing:
        return StateLabel(StateKind.BAD, _("Fails"))
    if job.name in faults:
        return StateLabel(StateKind.WARN, _("Overdue"))
    return StateLabel(StateKind.OK, _("Works")) if job.ran else StateLabel(StateKind.PLAIN, _("Not run yet"))


def build_table_row(trend: TableTrend) -> TableSizeRow:
    """Build the row of a table."""
    retention, month = trend.table.retention, GROWTH_DAYS * trend.growth.octets if trend.growth else None
    bound = str(BOUNDS[retention.bound if retention else TableBoundKind.CODE])
    return TableSizeRow(trend.table, bound, str(retention.kept) if retention else "", month)
