"""Tickets of an incident: which ones may be about it, attaching them by hand or by rule, and one answer to all."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.status.incidents.models import Incident, IncidentTicket
from apps.tickets import bulk
from apps.tickets.models import Bulk, BulkItem, Ticket

MOST_AT_ONCE: Final = bulk.MAX_TICKETS
log = structlog.get_logger()


def list_suggested_tickets(incident: Incident) -> QuerySet[Ticket]:
    """Return the tickets that were opened while it lasted, from an affected house, and are attached to no incident; the oldest first.

    Tickets of strangers, whose house is not known, count only if all houses are affected. What was detached from this incident is not
    suggested again.
    """
    of_another = Q(incident_link__detached__isnull=False) & ~Q(incident_link__incident=incident)
    found = Ticket.objects.filter(Q(incident_link=None) | of_another, merged_into=None)
    found = found.filter(opened_at__gte=incident.began)
    if incident.ended:
        found = found.filter(opened_at__lte=incident.ended)
    sites = list(incident.sites.values_list("pk", flat=True))
    if sites:
        found = found.filter(member__room__site__in=sites)
    return found.select_related("member__room__site").order_by("opened_at", "pk")


def attach_tickets(*, incident: Incident, tickets: Sequence[Ticket], by: User) -> int:
    """Attach these tickets. Return how many were not attached before. Raises Conflict if one is attached to another incident."""
    with transaction.atomic():
        made = _attach(incident, tickets, by)
        again = IncidentTicket.objects.filter(ticket__in=tickets, detached__isnull=False)
        made += again.update(incident=incident, by=by, at=Now(), detached=None)
        other = IncidentTicket.objects.filter(ticket__in=tickets).exclude(incident=incident).select_related("incident").first()
        if other:
            raise Conflict(
                _("Ticket #%(ticket)d is attached to “%(incident)s”.") % {"ticket": other.ticket_id, "incident": other.incident},
                culprit=other.incident,
            )
    log.info("tickets attached", incident=incident.pk, tickets=made, by=by.username)
    return made


def _attach(incident: Incident, tickets: Sequence[Ticket], by: User | None) -> int:
    """Attach those that were never attached to any incident. Return how many."""
    before = incident.attached.count()
    rows = [IncidentTicket(incident=incident, ticket=each, by=by) for each in tickets]
    IncidentTicket.objects.bulk_create(rows, ignore_conflicts=True)
    return incident.attached.count() - before


def detach_ticket(*, incident: Incident, ticket: Ticket, by: User) -> None:
    """Note that the ticket is about something else. The rule does not attach it again. Idempotent."""
    IncidentTicket.objects.filter(incident=incident, ticket=ticket, detached=None).update(detached=Now(), by=by)
    log.info("ticket detached", incident=incident.pk, ticket=ticket.pk, by=by.username)


def attach_by_rule() -> int:
    """Attach new tickets to open incidents whose rule is switched on. Return how many."""
    attached = 0
    for incident in Incident.objects.filter(ended=None, attach_tickets=True).order_by("began", "pk"):
        never = list_suggested_tickets(incident).filter(incident_link=None)
        attached += _attach(incident, list(never[:MOST_AT_ONCE]), None)
    return attached


def list_attached_tickets(incident: Incident) -> QuerySet[IncidentTicket]:
    """Return the attached tickets with their members, the oldest first."""
    return incident.attached.filter(detached=None).select_related("ticket__member", "by").order_by("ticket__opened_at", "ticket_id")


def list_answerable_tickets(incident: Incident) -> QuerySet[Ticket]:
    """Return the attached tickets that are not solved, and to which no answer is on its way; at most MOST_AT_ONCE."""
    unsolved = list_attached_tickets(incident).order_by().exclude(ticket__state=Ticket.State.SOLVED).values("ticket")
    found = Ticket.objects.filter(pk__in=unsolved, merged_into=None).exclude(pk__in=BulkItem.objects.filter(done_at=None).values("ticket"))
    return found.select_related("member").order_by("pk")[:MOST_AT_ONCE]


@transaction.atomic
def answer_attached(*, incident: Incident, named: Collection[int], key: UUID, text_en: str, text_de: str, by: User) -> Bulk:
    """Answer all tickets that `list_answerable_tickets` returns, and mark them as solved.

    named: ids of the tickets that the form named. Raises Conflict if others would be answered too: mails cannot be called back.
    key: from the form, so that a second click finds the answer of the first one. Two forms answer no ticket twice, either. Raises Problem.
    """
    Incident.objects.select_for_update(no_key=True).get(pk=incident.pk)
    if known := Bulk.objects.filter(key=key).first():
        return known
    tickets = list(list_answerable_tickets(incident))
    if not tickets:
        raise Problem(_("No attached ticket is left to answer."))
    if more := len({each.pk for each in tickets}.difference(named)):
        text = ngettext(
            "%(n)s more ticket would be answered now. Nothing was sent. Look at the number, then answer again.",
            "%(n)s more tickets would be answered now. Nothing was sent. Look at the number, then answer again.",
            more,
        )
        raise Conflict(text % {"n": formats.format_number(more)})
    return bulk.answer_tickets(key=key, tickets=tickets, text_de=text_de, text_en=text_en, solved=True, by=by)
