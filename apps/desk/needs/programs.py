"""Needs about the portal's own programs: silent or idle roles, silent hosts and other keys, jobs that fail or are overdue."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.desk.needs.need import AttentionItem
from apps.desk.portal_health import program_texts
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.operations import heartbeats, host_heartbeats, jobs
from apps.operations.heartbeats import ProcessFault, RoleFaultKind
from apps.operations.models import ProcessRole

URGENT = frozenset({ProcessRole.WORKER, ProcessRole.TICKER})


def iter_attention_items(now: datetime) -> Iterator[AttentionItem]:
    """Yield roles that do not work, and jobs that fail or do not run."""
    faults = heartbeats.list_process_faults(now)
    yield from _iter_role_needs(faults)
    yield from _iter_host_needs(faults, now)
    ticking = not faults or {fault.role for fault in faults} == {ProcessRole.EVENTS}
    for job in jobs.list_job_faults(now):
        if job.error or ticking:  # if a role is silent, its jobs do not run: that is not another need
            yield _build_job_need(job)


def _iter_role_needs(faults: Sequence[ProcessFault]) -> Iterator[AttentionItem]:
    broker = [fault for fault in faults if fault.fault is RoleFaultKind.BROKER]
    others = [fault for fault in faults if fault.fault is not RoleFaultKind.BROKER]
    silent = [fault for fault in others if fault.fault is RoleFaultKind.SILENT]
    if broker:
        yield _build_need(
            "broker",
            StateKind.BAD,
            program_texts.describe_broker_fault(),
            f"{broker[0].error}. {program_texts.describe_broker_effect()}",
            min(_list_moments(broker), default=None),
        )
    if {fault.role for fault in silent} >= {*heartbeats.OF_QUEUES, ProcessRole.TICKER}:
        words = _("No worker of the portal sends a heartbeat")
        yield _build_need("workers", StateKind.BAD, words, program_texts.describe_standstill(), max(_list_moments(silent), default=None))
        others = [fault for fault in others if fault.role == ProcessRole.EVENTS]
    for fault in others:
        kind = StateKind.BAD if fault.role in URGENT else StateKind.WARN
        yield _build_need(
            f"role-{fault.role}", kind, program_texts.describe_role_fault(fault), str(program_texts.CONSEQUENCES[fault.role]), fault.since
        )


def _iter_host_needs(faults: Sequence[ProcessFault], now: datetime) -> Iterator[AttentionItem]:
    """Yield hosts whose programs do not work while others do, and hosts with different keys."""
    for fault in program_texts.list_host_faults(faults, now):
        words, evidence = program_texts.describe_host_fault(fault)
        yield _build_need(f"host-{fault.kind}-{fault.host}", StateKind.WARN, words, evidence, fault.since)
    for difference in host_heartbeats.list_key_differences(now, heartbeats.SILENT):
        key = "host-ssh-keys" if difference.is_ssh else "host-secret-keys"
        yield _build_need(key, StateKind.BAD, *program_texts.describe_key_difference(difference), None)


def _list_moments(faults: Sequence[ProcessFault]) -> list[datetime]:
    return [fault.since for fault in faults if fault.since]


def _build_job_need(fault: jobs.JobFault) -> AttentionItem:
    given = {"job": program_texts.render_job_title(fault.name)}
    well = (
        _("It last succeeded %(at)s.") % {"at": formats.format_full_time(fault.succeeded)}
        if fault.succeeded
        else _("It has never succeeded.")
    )
    if fault.error:
        return _build_need(f"job-{fault.name}", StateKind.BAD, _("Job fails: %(job)s") % given, f"{fault.error}. {well}", fault.since)
    evidence = _("It has missed several runs although the scheduler is running.") + " " + well
    return _build_need(f"job-{fault.name}", StateKind.WARN, _("Job is overdue: %(job)s") % given, evidence, fault.since)


def _build_need(key: str, kind: StateKind, what: str, evidence: str, at: datetime | None) -> AttentionItem:
    return AttentionItem(
        key.replace(" ", "-").replace(".", "-"),
        StateLabel(kind, _("Portal"), "clock"),
        what,
        evidence,
        at,
        _("Open"),
        resolve_url("desk:system"),
    )
