"""Tasks of the status page. The work is in `apps.status`."""

from celery import shared_task

from apps.lib.database.clock import read_database_clock
from apps.status.availability.observation import observe_services
from apps.status.incidents.attached_tickets import attach_by_rule
from apps.status.subscriptions.mails import write_pending_mails


@shared_task(name="workers.watch_status")
def watch_status() -> None:
    """Note how well each service is reached, attach new tickets to incidents, and see to mails that were not written yet."""
    observe_services(read_database_clock())
    attach_by_rule()
    mail_status_updates.delay()


@shared_task(name="workers.mail_status_updates")
def mail_status_updates() -> None:
    """Write mails about updates to subscribers, a bounded number at once."""
    if write_pending_mails():
        mail_status_updates.delay()
