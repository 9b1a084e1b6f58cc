"""Merging of tickets: all messages move into one thread, in order of time, and the merged tickets point to it.

A merged ticket keeps its number, its subject and its tags. Mails to it, and answers to its mails, go to the ticket that it points to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest, Now
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.email_address import lower_ascii
from apps.lib.errors import Conflict, Problem
from apps.tickets import thread
from apps.tickets.models import Attachment, Message, Move, Ticket
from apps.tickets.notifications import list_answer_recipients
from apps.tickets.services import validate_tags

MAX_MERGED_TICKETS: Final = 50  # tickets that are merged at once
log = structlog.get_logger()


@dataclass(frozen=True)
class MergePreview:
    """Effects of a merge. unheard: addresses that get no more answers; shown_to: the member who will see the messages of tickets without
    a member, "" if there are none.
    """

    target: Ticket
    sources: list[Ticket]
    messages: int
    files: int
    unheard: list[str]
    shown_to: str


def preview_merge(*, into: Ticket, tickets: Sequence[Ticket]) -> MergePreview:
    """Return the effects of the merge. Raise Problem as `validate_merge` does."""
    validate_merge(into, tickets)
    moved = Message.objects.filter(ticket__in=tickets)
    (to, _language), *others = list_answer_recipients([into, *tickets])
    unheard = sorted({address for address, _language in others if address and lower_ascii(address) != lower_ascii(to)})
    shown_to = str(into.member) if into.member and any(each.member_id is None for each in tickets) else ""
    return MergePreview(into, list(tickets), moved.count(), Attachment.objects.filter(message__in=moved).count(), unheard, shown_to)


def validate_merge(into: Ticket, tickets: Iterable[Ticket]) -> None:
    """Raise Problem for no tickets, too many, tickets merged already, a ticket merged into itself, tickets of different members, or too
    many tags together.
    """
    sources = list(tickets)
    if not sources:
        raise Problem(_("Choose at least one other ticket."), "tickets")
    if len(sources) > MAX_MERGED_TICKETS:
        raise Problem(
            _("%(number)d tickets are too many. Choose at most %(most)d.") % {"number": len(sources), "most": MAX_MERGED_TICKETS}, "tickets"
        )
    for each in (into, *sources):
        if each.merged_into_id:
            facts = {"ticket": each.pk, "target": each.merged_into_id}
            raise Problem(_("#%(ticket)d was merged into #%(target)d already.") % facts, "tickets")
    for each in sources:
        if each.pk == into.pk:
            raise Problem(_("#%(ticket)d cannot be merged into itself.") % {"ticket": each.pk}, "tickets")
        if each.member_id and each.member_id != into.member_id:
            whose = {"ticket": each.pk, "member": each.member, "target": into.pk, "whose": into.member or _("nobody")}
            words = _("#%(ticket)d belongs to %(member)s, #%(target)d to %(whose)s. Only tickets of the same member can be merged.")
            unnamed = (
                _("#%(ticket)d and #%(target)d do not belong to the same member. Only tickets of the same member can be merged.") % whose
            )
            raise Problem(words % whose, "tickets", culprit=each, unnamed=unnamed)
    validate_tags([tag for each in (into, *sources) for tag in each.tags])


def merge_tickets(*, into: Ticket, tickets: Sequence[Ticket], by: User) -> None:
    """Merge the tickets into one, without sending any mail. Raise Problem as `validate_merge` does."""
    with transaction.atomic():
        rows = Ticket.objects.select_for_update().prefetch_related("member", "assignee")
        found = {row.pk: row for row in rows.filter(pk__in={into.pk, *(each.pk for each in tickets)}).order_by("pk")}
        target, sources = found[into.pk], [found[pk] for pk in dict.fromkeys(each.pk for each in tickets)]
        validate_merge(target, sources)
        for source in sources:
            _take_over(target, source, by)
        _sum_up(target, sources)
    log.info("tickets merged", into=target.pk, tickets=[each.pk for each in sources], by=by.username)


def _take_over(target: Ticket, source: Ticket, by: User) -> None:
    known = set(target.links.values_list("kind", "object_id"))
    links = [each for each in source.links.all() if (each.kind, each.object_id) not in known]
    move = Move(kind=Move.Kind.MERGE, source=source, target=target, state=source.state, by=by, adopted=source.member_id != target.member_id)
    move.messages, move.links = list(source.messages.order_by("id").values_list("pk", flat=True)), [each.pk for each in links]
    move.save(force_insert=True)
    source.messages.update(ticket=target)
    source.links.filter(pk__in=move.links).update(ticket=target)
    Ticket.objects.filter(merged_into=source).update(merged_into=target, version=F("version") + 1)
    Ticket.objects.filter(pk=source.pk).update(
        merged_into=target, state=Ticket.State.SOLVED, member=target.member, version=F("version") + 1, touched_at=Now()
    )


def _sum_up(target: Ticket, sources: Sequence[Ticket]) -> None:
    """Set the target's properties after the merge: the highest priority, all tags, the first assignee found, staff's turn if it was so
    for any of the tickets, and the time of the first answer.
    """
    everyone = (target, *sources)
    state = target.state
    if not target.is_ours and any(each.is_ours for each in sources):
        state = Ticket.State.OPEN if target.state == Ticket.State.WAITING else Ticket.State.REOPENED
    assignee = next((each.assignee for each in everyone if each.assignee), None)
    tags, priority = validate_tags([tag for each in everyone for tag in each.tags]), max(each.priority for each in everyone)
    changed = {"state": state, "priority": priority, "assignee": assignee, "tags": tags}
    Ticket.objects.filter(pk=target.pk).update(**changed, version=F("version") + 1, touched_at=Now())
    answered = [each.first_answered_at for each in sources if each.first_answered_at]
    if target.first_answered_at is None and answered:
        Ticket.objects.filter(pk=target.pk).update(first_answered_at=Greatest(min(answered), F("opened_at")))


def undo_merge(*, move: Move, by: User) -> None:
    """Undo a merge: the source is a ticket of its own again, with the messages from before the merge; later messages stay in the target.

    Raise Conflict when the merge was undone already, Problem when the target was merged into another ticket since.
    """
    with transaction.atomic():
        if not Move.objects.filter(pk=move.pk, kind=Move.Kind.MERGE, undone_at=None).update(undone_at=Now(), undone_by=by):
            raise Conflict(_("The merge was already undone by someone else."))
        tickets = {row.pk: row for row in Ticket.objects.select_for_update().filter(pk__in=[move.source_id, move.target_id]).order_by("pk")}
        if further := tickets[move.target_id].merged_into_id:
            facts = {"target": move.target_id, "further": further}
            raise Problem(_("#%(target)d was merged into #%(further)d since. Undo that first.") % facts)
        _give_back(move)
    log.info("merging of tickets undone", ticket=move.source_id, target=move.target_id, by=by.username)


def _give_back(move: Move) -> None:
    source, target = Ticket.objects.filter(pk=move.source_id), Ticket.objects.filter(pk=move.target_id)
    source.update(merged_into=None, state=move.state, version=F("version") + 1, touched_at=Now())
    if move.adopted:
        source.update(member=None)
    before = Move.objects.filter(kind=Move.Kind.MERGE, undone_at=None, target=move.source_id).values("source")
    Ticket.objects.filter(pk__in=before).update(merged_into=move.source_id, version=F("version") + 1)
    Message.objects.filter(pk__in=move.messages, ticket=move.target_id).update(ticket=move.source_id)
    move.target.links.filter(pk__in=move.links).update(ticket=move.source_id)
    target.update(version=F("version") + 1, touched_at=Now())
    first = Message.objects.filter(ticket=move.target_id, kind=Message.Kind.ANSWER).order_by("at").values_list("at", flat=True).first()
    target.update(first_answered_at=Greatest(first, F("opened_at")) if first else None)


def list_by_numbers(numbers: Iterable[int]) -> list[Ticket]:
    """Return the tickets with these numbers, or those that they were merged into, without duplicates, in the order of the numbers."""
    current = dict.fromkeys(thread.resolve_merged(number) for number in numbers)
    found = Ticket.objects.select_related("member", "assignee").in_bulk(list(current))
    return [found[pk] for pk in current if pk in found]
