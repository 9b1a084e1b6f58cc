"""The page of the portal's own state, as values: roles with their signs of life, jobs with their last runs, tables with their sizes."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.desk.selectors import programs
from apps.lib.ui.states import Kind, State
from apps.operations import heartbeats, jobs
from apps.operations.models import JobRecord, RoleHeartbeat
from apps.operations.registry import Bound
from apps.operations.table_sizes import TableSize, table_sizes

BOUNDS: dict[Bound, Promise] = {
    Bound.PEOPLE: gettext_lazy("as many as people enter"),
    Bound.CODE: gettext_lazy("a fixed number"),
    Bound.HISTORY: gettext_lazy("history, kept on purpose"),
    Bound.PRUNED: gettext_lazy("pruned"),
}


@dataclass(frozen=True)
class RoleRow:
    """A program of the portal. follows: what its silence means, "" while it works."""

    name: str
    state: State
    row: RoleHeartbeat | None
    follows: str


@dataclass(frozen=True)
class JobRow:
    """A job with its last run."""

    name: str
    title: str
    state: State
    job: JobRecord


@dataclass(frozen=True)
class TableRow:
    """A table with its size. bound: what keeps it from growing for ever; kept: how long rows stay."""

    table: TableSize
    bound: str
    kept: str


@dataclass(frozen=True)
class System:
    """Everything the page shows; octets: of all tables together."""

    roles: list[RoleRow]
    jobs: list[JobRow]
    tables: list[TableRow]
    octets: int
    faults: int


def system(now: datetime) -> System:
    """What is known of the portal's programs, jobs and tables."""
    roles, of_jobs, tables = _roles(now), _jobs(now), [_table(each) for each in table_sizes()]
    states = [*(each.state for each in roles), *(each.state for each in of_jobs)]
    faults = sum(state.kind not in (Kind.OK, Kind.PLAIN) for state in states)
    return System(roles, of_jobs, tables, sum(each.table.octets for each in tables), faults)


def _roles(now: datetime) -> list[RoleRow]:
    faults, known = {fault.role: fault for fault in heartbeats.faults(now)}, heartbeats.known()
    rows = []
    for role in heartbeats.expected_roles():
        fault = faults.get(role)
        state = State(Kind.BAD, programs.sentence(fault)) if fault else State(Kind.OK, _("Works"))
        rows.append(RoleRow(str(role.label), state, known.get(role), str(programs.FOLLOWS[role]) if fault else ""))
    return rows


def _jobs(now: datetime) -> list[JobRow]:
    faults = {fault.name: fault for fault in jobs.faults(now)}
    return [JobRow(job.name, programs.title_of_job(job.name), _state(job, faults), job) for job in JobRecord.objects.order_by("name")]


def _state(job: JobRecord, faults: dict[str, jobs.JobFault]) -> State:
    if job.failing:
        return State(Kind.BAD, _("Fails"))
    if job.name in faults:
        return State(Kind.WARN, _("Does not run"))
    return State(Kind.OK, _("Works")) if job.ran else State(Kind.PLAIN, _("Not run yet"))


def _table(table: TableSize) -> TableRow:
    if table.retention is None:
        return TableRow(table, str(BOUNDS[Bound.CODE]), "")
    return TableRow(table, str(BOUNDS[table.retention.bound]), str(table.retention.kept))
