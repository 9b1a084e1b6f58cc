"""Splitting of a ticket with two questions: chosen messages become a ticket of their own, and answers to them go there."""

from collections.abc import Sequence

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.tickets import thread
from apps.tickets.models import Message, Move, Ticket
from apps.tickets.services import validate_subject

log = structlog.get_logger()


def split_ticket(*, ticket: Ticket, messages: Sequence[int], subject: str, same_member: bool, by: User) -> Ticket:
    """Split messages off and return the new ticket, with the same member or without one. messages: ids. No mail is sent.

    Raise Problem for a subject that is not allowed, and when no message is chosen, all are, or one is not of the ticket.
    """
    kept = validate_subject(subject)
    with transaction.atomic():
        current = thread.lock_ticket(ticket.pk)
        chosen = _select_messages(current, messages)
        made = Ticket.objects.create(**_build_facts(current, chosen, same_member), subject=kept, split_from=current)
        Message.objects.filter(pk__in=[each.pk for each in chosen]).update(ticket=made)
        if any(each.kind == Message.Kind.ANSWER for each in chosen):
            Ticket.objects.filter(pk=made.pk).update(first_answered_at=F("opened_at"))
        Move.objects.create(kind=Move.Kind.SPLIT, source=current, target=made, messages=[each.pk for each in chosen], by=by)
        Ticket.objects.filter(pk=current.pk).update(version=F("version") + 1, touched_at=Now())
    log.info("ticket split", ticket=current.pk, made=made.pk, by=by.username)
    made.refresh_from_db()
    return made


def _select_messages(ticket: Ticket, messages: Sequence[int]) -> list[Message]:
    chosen = list(ticket.messages.filter(pk__in=messages).order_by("at", "id"))
    if not chosen or len(chosen) != len(set(messages)):
        raise Problem(_("Choose messages of this ticket."), "messages")
    if not ticket.messages.exclude(pk__in=messages).exists():
        raise Problem(_("A ticket needs at least one message. Leave one in this ticket."), "messages")
    return chosen


def _build_facts(ticket: Ticket, chosen: Sequence[Message], same_member: bool) -> dict[str, object]:
    """Return the columns of the new ticket. The state follows from the last message that is not a note."""
    said = [each for each in chosen if each.kind != Message.Kind.NOTE]
    waits = bool(said) and said[-1].kind == Message.Kind.ANSWER
    sender = next((each.sender for each in said if each.kind == Message.Kind.MEMBER and each.sender), "")
    return {
        "member": ticket.member if same_member else None,
        "address": ticket.address if same_member else sender[:254] or ticket.address,
        "language": ticket.language,
        "state": Ticket.State.WAITING if waits else Ticket.State.OPEN,
        "priority": ticket.priority,
        "assignee": ticket.assignee,
    }
