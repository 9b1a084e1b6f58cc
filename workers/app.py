"""The Celery app and its static schedule. Every entry only makes a worker check what is due."""

import os

from celery import Celery
from kombu import Queue

from apps.lib.interpreter import shorten_switch_interval
from workers import broker
from workers.queues import CHANGES, FEEDS, IMPORTS, MAIL, POSTAL, READINGS, ROLES, SLOW

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# Django's checks load all code of the pages, which workers do not need, and query the database, which may be down when a worker starts.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# The broker redelivers a task of a dead worker after this time, and also a task that takes longer, which then runs twice at once. Nothing
# depends on redelivery: the schedule queues everything again, most of it within a minute.
RESTORE = {"visibility_timeout": 3600, "unacked_restore_interval": 2, "unacked_restore_throttle": 1}
MODULES = (
    "alarms",
    "deploy",
    "collect",
    "ban_feeds",
    "lifecycle",
    "mail",
    "announcements",
    "inbound_mail",
    "operations",
    "tickets",
    "webhooks",
    "joining",
    "people_import",
    "failover",
    "agent_upgrades",
    "probing",
    "health",
    "evidence",
    "status",
)
TAKE_OVER_SECONDS = 5.0
FORGET_SECONDS = 3600.0
FEEDS_SECONDS = 60.0
LIFECYCLE_SECONDS = 300.0
USAGE_SECONDS = 60.0
MAIL_SECONDS = 15.0
ANNOUNCEMENT_SECONDS = 15.0
MAIL_IN_SECONDS = 60.0
QUOTA_SECONDS = 600.0
WEBHOOK_SECONDS = 5.0
JOINING_SECONDS = 20.0
TABLES_SECONDS = 30.0
ALARM_SECONDS = 5.0
SIGN_OF_LIFE_SECONDS = 60.0
ROLES_SECONDS = 10.0
AGENT_UPGRADE_SECONDS = 3.0
PROBE_SECONDS = 3.0
HEALTH_SECONDS = 10.0
PORTAL_HEALTH_SECONDS = 60.0
EVIDENCE_SECONDS = 10.0
STATUS_SECONDS = 15.0
CALENDAR_SECONDS = 60.0


def _build_entry(seconds: float, task: str, *args: str, **options: str | float) -> dict[str, object]:
    """Build an entry of the schedule. A task that is not taken in time expires, because the next one is due by then."""
    return {"task": task, "schedule": seconds, "args": args, "options": {"expires": seconds, **options}}


def _build_served_entries(seconds: float) -> dict[str, dict[str, object]]:
    """Build a task for each queue that proves that the queue is served. It expires late: on a busy machine a late task proves it too."""
    late = 4 * seconds
    return {
        f"served {role}": _build_entry(seconds, "workers.report_served", role, queue=queue, expires=late) for queue, role in ROLES.items()
    }


def _make_app() -> Celery:
    import django
    from django.conf import settings

    django.setup()
    shorten_switch_interval()
    broker.register_transport()
    from apps.lib import message_broker
    from workers import monitoring, rabbitmq  # needs Django to be set up

    monitoring.connect()
    arguments = message_broker.QUORUM if message_broker.is_rabbitmq() else None
    made = Celery("workers", broker=message_broker.get_broker_url(), include=[f"workers.{each}" for each in MODULES])
    made.conf.update(
        accept_content=["json"],
        task_serializer="json",
        task_ignore_result=True,
        task_queues=[Queue(each, routing_key=each, queue_arguments=arguments) for each in (CHANGES, READINGS, MAIL, FEEDS)],
        task_default_queue=CHANGES,
        task_routes={each: {"queue": queue} for queue, names in ((READINGS, SLOW), (MAIL, POSTAL), (FEEDS, IMPORTS)) for each in names},
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,  # our lines are complete as they are
        broker_connection_retry_on_startup=True,
        task_reject_on_worker_lost=True,
        broker_transport_options=RESTORE,
        timezone="UTC",
        beat_schedule={
            "reconcile": _build_entry(settings.RECONCILE_SECONDS, "workers.reconcile"),
            "take over": _build_entry(TAKE_OVER_SECONDS, "workers.take_over"),
            "examine joining machines": _build_entry(JOINING_SECONDS, "workers.examine_machines"),
            "probe gateways": _build_entry(PROBE_SECONDS, "workers.probe_gateways"),
            "read health": _build_entry(HEALTH_SECONDS, "workers.read_health"),
            "sum health": _build_entry(USAGE_SECONDS, "workers.sum_health"),
            "read the portal's health": _build_entry(PORTAL_HEALTH_SECONDS, "workers.read_portal_health"),
            "tend evidence": _build_entry(EVIDENCE_SECONDS, "workers.tend_evidence"),
            "upgrade agents": _build_entry(AGENT_UPGRADE_SECONDS, "workers.upgrade_agents"),
            "watch roles": _build_entry(ROLES_SECONDS, "workers.watch_roles"),
            "offer tables": _build_entry(TABLES_SECONDS, "workers.offer_tables"),
            "forget": _build_entry(FORGET_SECONDS, "workers.forget"),
            "members' ways": _build_entry(LIFECYCLE_SECONDS, "workers.lifecycle"),
            "refresh feeds": _build_entry(FEEDS_SECONDS, "workers.refresh_feeds"),
            "send mail": _build_entry(MAIL_SECONDS, "workers.send_mail"),
            "receive mail": _build_entry(MAIL_IN_SECONDS, "workers.receive_mail"),
            "fetch mail": _build_entry(MAIL_IN_SECONDS, "workers.fetch_mail"),
            "answer tickets": _build_entry(MAIL_SECONDS, "workers.answer_tickets"),
            "send announcements": _build_entry(ANNOUNCEMENT_SECONDS, "workers.send_announcements"),
            "count tickets": _build_entry(FORGET_SECONDS, "workers.count_tickets"),
            "sign of life": _build_entry(SIGN_OF_LIFE_SECONDS, "workers.send_sign_of_life"),
            "watch status": _build_entry(STATUS_SECONDS, "workers.watch_status"),
            "watch alarms": _build_entry(ALARM_SECONDS, "workers.watch_alarms"),
            "read duty calendars": _build_entry(CALENDAR_SECONDS, "workers.read_duty_calendars"),
            "tell webhooks": _build_entry(WEBHOOK_SECONDS, "workers.tell_webhooks"),
            "collect": _build_entry(settings.COLLECT_SECONDS, "workers.collect"),
            "share fairly": _build_entry(settings.COLLECT_SECONDS, "workers.share_fairly"),
            "tell of quotas": _build_entry(QUOTA_SECONDS, "workers.tell_of_quotas"),
            "tend usage": _build_entry(USAGE_SECONDS, "workers.tend_usage"),
            **_build_served_entries(3 * settings.HEARTBEAT_SECONDS),
        },
    )
    made.conf.update(rabbitmq.build_settings() if message_broker.is_rabbitmq() else {})
    return made


app = _make_app()
