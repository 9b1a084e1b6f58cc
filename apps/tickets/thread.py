"""Operations on a thread that web, mail and API share: add a message, set the state. They run within the caller's transaction."""

from collections.abc import Sequence

from django.db.models import F
from django.db.models.functions import Coalesce, Greatest, Now

from apps.tickets.attachment_quota import check_attachment_quota
from apps.tickets.attachments import AttachmentFile, save_files
from apps.tickets.models import Message, Ticket


def lock_ticket(pk: int) -> Ticket:
    """Return the ticket, or the one that it was merged into, locked until the transaction ends.

    Member and assignee are read by separate queries. In a join they would be missing if another transaction changed them while this
    one waited for the lock.
    """
    rows = Ticket.objects.select_for_update().prefetch_related("member", "assignee")
    found = rows.get(pk=resolve_merged(pk))
    while found.merged_into_id:  # merged between the two queries
        found = rows.get(pk=found.merged_into_id)
    return found


def resolve_merged(pk: int) -> int:
    """Return the id of the ticket that this one was merged into, or its own."""
    return Ticket.objects.filter(pk=pk).values_list("merged_into", flat=True).first() or pk


def add_message(message: Message, files: Sequence[AttachmentFile] = ()) -> Message:
    """Save the message with its files and update the ticket's touched_at. Raise Problem when the files exceed a quota."""
    check_attachment_quota(message, sum(len(file.octets) for file in files))
    message.text = tidy_text(message.text)
    message.save(force_insert=True)
    save_files(message, files)
    Ticket.objects.filter(pk=message.ticket_id).update(touched_at=Now())
    return message


def hand_to_staff(ticket: Ticket) -> None:
    """Set the state after the asker has written: it is staff's turn; a solved ticket is reopened."""
    was_solved = ticket.state in (Ticket.State.SOLVED, Ticket.State.REOPENED)
    set_state(ticket, Ticket.State.REOPENED if was_solved else Ticket.State.OPEN)


def mark_answered(ticket: Ticket, state: Ticket.State) -> None:
    """Set the state after staff has written to the asker, and the time of the first answer, which is never before the question's: that may
    have come while the clock was ahead.
    """
    now = Greatest(Now(), "opened_at")
    Ticket.objects.filter(pk=ticket.pk).update(first_answered_at=Coalesce("first_answered_at", now))
    set_state(ticket, state)


def set_state(ticket: Ticket, state: Ticket.State) -> None:
    """Set the state. Bumps the version if the state changes, so that stale edits are refused."""
    if ticket.state != state:
        Ticket.objects.filter(pk=ticket.pk).update(state=state, version=F("version") + 1)
        ticket.state = state


def tidy_text(text: str) -> str:
    """Return the text without NUL, which PostgreSQL does not accept, with LF as line end, and without surrounding white space."""
    return text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()
