"""The queues, which role of the portal serves each, and which tasks go to which. Tasks that are not listed go to CHANGES."""

from typing import Final

# Reading a large gateway's counters, or a feed, keeps Python busy: a worker of its own for each queue keeps deploying changes fast.
CHANGES, READINGS, MAIL, FEEDS = "celery", "readings", "mail", "feeds"
ROLES: Final = {CHANGES: "worker", READINGS: "collector", MAIL: "mailer", FEEDS: "feeds"}  # queue: apps.operations.models.ProcessRole
SLOW: Final = (
    "workers.collect",
    "workers.collect_one",
    "workers.tend_usage",
    "workers.share_fairly",
    "workers.tell_of_quotas",
    "workers.lifecycle",
    "workers.fetch_mail",
    "workers.count_tickets",
    "workers.tell_webhooks",
    "workers.forget",
    "workers.examine_machines",
    "workers.watch_roles",
    "workers.probe_gateways",
    "workers.read_health",
    "workers.sum_health",
    "workers.read_timeouts",
    "workers.read_portal_health",
    "workers.tend_evidence",
    "workers.collect_evidence",
)
POSTAL: Final = (
    "workers.send_mail",
    "workers.receive_mail",
    "workers.answer_tickets",
    "workers.send_announcements",
    "workers.watch_alarms",
    "workers.send_alarm_messages",
    "workers.send_sign_of_life",
    "workers.watch_status",
    "workers.mail_status_updates",
)
IMPORTS: Final = ("workers.refresh_feed", "workers.import_people", "workers.read_duty_calendars")
