"""Metrics of the portal itself: its roles, jobs, mail, tickets, feeds, rollouts, approvals, alarms and tables."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Min
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from apps.alarms.selectors import list_open_alarms
from apps.bans.models import BanFeed
from apps.deployments.models import Rollout
from apps.deployments.selectors import list_parts_awaiting_approval, map_newest_rollouts
from apps.desk.result_cache import count_members
from apps.mail import selectors as mails
from apps.mail.models import Message
from apps.operations import heartbeats, jobs
from apps.operations.models import JobRecord
from apps.operations.table_sizes import list_table_sizes
from apps.tickets.selectors import count_by_turn


def iter_metrics(now: datetime) -> Iterator[Metric]:
    """Yield all metrics that are not of gateways."""
    yield from _iter_roles(now)
    yield from _iter_jobs(now)
    yield from _iter_mail()
    yield from _iter_feeds()
    yield from _iter_rollouts()
    yield from _iter_alarms()
    members = GaugeMetricFamily("netzwart_members", "Members by state.", labels=["state"])
    for state, number in count_members().items():
        members.add_metric([state], number)
    tickets = GaugeMetricFamily("netzwart_tickets", "Open tickets, by whose turn it is.", labels=["turn"])
    for turn, number in count_by_turn().items():
        tickets.add_metric([turn], number)
    tables = GaugeMetricFamily("netzwart_database_bytes", "Size of all tables with their indexes.")
    tables.add_metric([], sum(each.octets for each in list_table_sizes()))
    yield from (members, tickets, tables)


def _iter_roles(now: datetime) -> Iterator[Metric]:
    up = GaugeMetricFamily("netzwart_role_up", "1 if this program of the portal does its work.", labels=["role"])
    seen = GaugeMetricFamily("netzwart_role_last_seen_timestamp_seconds", "Last sign of life of a program of the portal.", labels=["role"])
    faults, known = {fault.role for fault in heartbeats.list_process_faults(now)}, heartbeats.list_heartbeats()
    for role in heartbeats.list_expected_roles():
        up.add_metric([role.value], float(role not in faults))
        if (row := known.get(role)) and row.seen:
            seen.add_metric([role.value], row.seen.timestamp())
    yield from (up, seen)


def _iter_jobs(now: datetime) -> Iterator[Metric]:
    up = GaugeMetricFamily("netzwart_job_up", "1 if the job's last run succeeded, and it is not overdue.", labels=["job"])
    succeeded = GaugeMetricFamily("netzwart_job_last_success_timestamp_seconds", "When the job last succeeded.", labels=["job"])
    faults = {fault.name for fault in jobs.list_job_faults(now)}
    for job in JobRecord.objects.order_by("name"):
        up.add_metric([job.name], float(job.name not in faults))
        if job.succeeded:
            succeeded.add_metric([job.name], job.succeeded.timestamp())
    yield from (up, succeeded)


def _iter_mail() -> Iterator[Metric]:
    counted = GaugeMetricFamily("netzwart_mails", "Mails in the outbox by state.", labels=["state"])
    found = mails.count_by_state()
    for state in Message.State:
        counted.add_metric([state], found.get(state, 0))
    yield counted
    oldest = Message.objects.filter(state=Message.State.WAITING).aggregate(at=Min("written"))["at"]
    waiting = GaugeMetricFamily("netzwart_mail_oldest_waiting_timestamp_seconds", "When the oldest mail that still waits was written.")
    if oldest:
        waiting.add_metric([], oldest.timestamp())
    yield waiting


def _iter_feeds() -> Iterator[Metric]:
    up = GaugeMetricFamily("netzwart_feed_up", "1 if the ban list's feed was refreshed without an error.", labels=["list"])
    refreshed = GaugeMetricFamily("netzwart_feed_last_refresh_timestamp_seconds", "When the feed was last refreshed.", labels=["list"])
    for feed in BanFeed.objects.select_related("list").order_by("list__name"):
        up.add_metric([feed.list.name], float(feed.error is None))
        if feed.refreshed:
            refreshed.add_metric([feed.list.name], feed.refreshed.timestamp())
    yield from (up, refreshed)


def _iter_rollouts() -> Iterator[Metric]:
    ended = CounterMetricFamily("netzwart_rollouts", "Rollouts that have ended, by state.", labels=["state"])
    going = GaugeMetricFamily("netzwart_rollouts_open", "Rollouts that have not ended, by state.", labels=["state"])
    found = dict(Rollout.objects.order_by().values_list("state").annotate(number=Count("pk")))
    for state in Rollout.State:
        (going if state in Rollout.OPEN else ended).add_metric([state], found.get(state, 0))
    failed = GaugeMetricFamily("netzwart_rollout_failed", "1 if the group's newest rollout failed or was stopped.", labels=["group"])
    for rollout in map_newest_rollouts().values():
        failed.add_metric([rollout.group.name], float(rollout.state in (Rollout.State.FAILED, Rollout.State.ABORTED)))
    waiting = GaugeMetricFamily("netzwart_approvals_waiting", "Changes that wait for the approval of a second person.")
    waiting.add_metric([], list_parts_awaiting_approval().count())
    yield from (ended, going, failed, waiting)


def _iter_alarms() -> Iterator[Metric]:
    counted = GaugeMetricFamily("netzwart_alarms", "Open alarms by severity.", labels=["severity"])
    found = [each.severity for each in list_open_alarms()]
    for severity in ("critical", "warning", "decision"):
        counted.add_metric([severity], found.count(severity))
    yield counted
