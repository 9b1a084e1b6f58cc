"""What every way into a ticket shares: a message is added, and the ticket is then whose turn it is. Within the caller's transaction."""

from collections.abc import Sequence

from django.db.models import F
from django.db.models.functions import Coalesce, Now

from apps.tickets.attachment_quota import check_room
from apps.tickets.attachments import AttachmentFile, save_files
from apps.tickets.models import Message, Ticket


def lock_ticket(pk: int) -> Ticket:
    """The ticket, or the one that it was merged into; nobody else writes to it until the transaction ends.

    Member and assignee are read apart: joined, they are missing where somebody changed them while this waited for the lock.
    """
    rows = Ticket.objects.select_for_update().prefetch_related("member", "assignee")
    found = rows.get(pk=resolve_merged(pk))
    while found.merged_into_id:  # merged between the two looks
        found = rows.get(pk=found.merged_into_id)
    return found


def resolve_merged(pk: int) -> int:
    """The number of the ticket in which that one stands now: its own, or the one that it was merged into."""
    return Ticket.objects.filter(pk=pk).values_list("merged_into", flat=True).first() or pk


def add_message(message: Message, files: Sequence[AttachmentFile] = ()) -> Message:
    """The message, with its files. Raises Problem when there is no room for these."""
    check_room(message, sum(len(file.octets) for file in files))
    message.text = tidy(message.text)
    message.save(force_insert=True)
    save_files(message, files)
    Ticket.objects.filter(pk=message.ticket_id).update(touched_at=Now())
    return message


def hand_to_staff(ticket: Ticket) -> None:
    """Whoever asked has written again: it is the staff's turn; what was solved is open again."""
    closed = ticket.state in (Ticket.State.SOLVED, Ticket.State.REOPENED)
    set_state(ticket, Ticket.State.REOPENED if closed else Ticket.State.OPEN)


def mark_answered(ticket: Ticket, state: Ticket.State) -> None:
    """Staff has written to whoever asked."""
    Ticket.objects.filter(pk=ticket.pk).update(first_answered_at=Coalesce("first_answered_at", Now()))
    set_state(ticket, state)


def set_state(ticket: Ticket, state: Ticket.State) -> None:
    """Whoever has an older state before his eyes must look again before saving another: the version counts on."""
    if ticket.state != state:
        Ticket.objects.filter(pk=ticket.pk).update(state=state, version=F("version") + 1)
        ticket.state = state


def tidy(text: str) -> str:
    """Without NUL, which PostgreSQL does not take; with one kind of line end, and without empty space around it."""
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()
