"""Bounds of this app's tables."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.lib.database.email_lookups import AsciiLower
from apps.mail.models import SwitchedOff
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables
from apps.status.models import ServiceDay, Subscription
from apps.status.subscriptions.services import NOTICE, erase_subscriptions

DAYS_KEPT: Final = timedelta(days=2 * 365)
ASKED_KEPT: Final = timedelta(days=7)


def prune_days(now: datetime, at_most: int) -> int:
    """Delete days that are two years old."""
    return delete_oldest_batch(ServiceDay.objects.filter(day__lt=(now - DAYS_KEPT).date()), "day", at_most)


def prune_subscriptions(now: datetime, at_most: int) -> int:
    """Erase subscriptions that were not confirmed within a week, and those that their readers have ended."""
    asked = Subscription.objects.filter(asked__lt=now - ASKED_KEPT)
    ended = SwitchedOff.objects.filter(notice=NOTICE).annotate(lower=AsciiLower("address")).values("lower")
    over = asked.alias(lower=AsciiLower("address")).filter(Q(confirmed=None) | Q(lower__in=ended))
    with transaction.atomic():
        addresses = [each.address for each in over.select_for_update(of=("self",)).order_by("asked")[:at_most]]
        erase_subscriptions(addresses)
    return len(addresses)


register_unpruned_tables(TableBoundKind.PEOPLE, "status.Incident", "status.IncidentUpdate", "status.IncidentTicket", "status.ServiceState")
register_pruned_table("status.ServiceDay", kept=_("2 years"), prune=prune_days)
register_pruned_table("status.Subscription", kept=_("until it is ended; 7 days if it is not confirmed"), prune=prune_subscriptions)
