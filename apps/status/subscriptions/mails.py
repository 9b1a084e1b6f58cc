"""Mails about updates of incidents to subscribers: each update once to each of them, also if a worker dies in between."""

from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import override

from apps.lib.errors import Problem
from apps.mail.mail_templates import PlainValue
from apps.mail.services import write_mail
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.incidents.scope_texts import describe_scope
from apps.status.subscriptions.models import Subscription
from apps.status.subscriptions.services import NOTICE

AT_ONCE: Final = 200
log = structlog.get_logger()


def write_pending_mails() -> bool:
    """Write the next mails, at most AT_ONCE. Return True if more are left. Any number of workers may do so at once."""
    with transaction.atomic():
        pending = IncidentUpdate.objects.select_for_update(of=("self",), skip_locked=True).filter(notify=True, mailed=None)
        update = pending.select_related("incident").order_by("id").first()
        if update is None:
            return False
        readers = list(Subscription.objects.filter(pk__gt=update.mailed_after, confirmed__isnull=False).order_by("pk")[:AT_ONCE])
        for reader in readers:
            _write_mail(update, reader)
        over = len(readers) < AT_ONCE
        after = readers[-1].pk if readers else update.mailed_after
        IncidentUpdate.objects.filter(pk=update.pk).update(mailed_after=after, mailed=Now() if over else None)
    return not over or IncidentUpdate.objects.filter(notify=True, mailed=None).exists()


def _write_mail(update: IncidentUpdate, reader: Subscription) -> None:
    key = f"status-{update.pk}-{reader.pk}"
    try:
        write_mail(
            to=reader.address,
            language=reader.language,
            template="status_update",
            context=_build_context(update, update.incident, reader.language),
            key=key,
            notice=NOTICE,
        )
    except Problem as problem:
        log.warning("status update not mailed", subscription=reader.pk, why=str(problem))


def _build_context(update: IncidentUpdate, incident: Incident, language: str) -> dict[str, PlainValue]:
    with override(language):
        return {
            "title": incident.title,
            "stage": str(update.get_stage_display()),
            "words": update.text,
            "scope": describe_scope(incident),
            "began": incident.began,
            "planned_end": incident.planned_end,
            "ended": incident.ended,
            "planned": incident.is_maintenance,
            "next_update": incident.next_update,
            "url": f"{settings.PORTAL_URL}{reverse('status:page')}#incident-{incident.pk}",
        }
