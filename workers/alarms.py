"""Tasks that watch for alarms and send messages about them. The work is in `apps.alarms`."""

from celery import shared_task
from django.utils import timezone

from apps.alarms import watch
from apps.alarms.channels import sender
from apps.alarms.dead_man import sign_of_life
from apps.alarms.duty import calendar_reading
from apps.lib.database.clock import read_database_clock


@shared_task(name="workers.watch_alarms")
def watch_alarms() -> None:
    """Compare what is wrong now with the open alarms, and write mails about what began and what is over."""
    watch.watch_alarms(read_database_clock())
    if sender.has_due_messages(timezone.now()):
        send_alarm_messages.delay()


@shared_task(name="workers.send_sign_of_life")
def send_sign_of_life() -> None:
    """Tell an outside service that the portal works."""
    sign_of_life.send_sign_of_life(timezone.now())


@shared_task(name="workers.read_duty_calendars")
def read_duty_calendars() -> None:
    """Read the calendars of the duty rota that are due."""
    calendar_reading.read_due_calendars(timezone.now())


@shared_task(name="workers.send_alarm_messages")
def send_alarm_messages() -> None:
    """Send the messages to channels that are due."""
    sender.send_due_messages()
