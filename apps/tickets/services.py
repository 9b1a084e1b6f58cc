"""Services of tickets: open, answer, add a note, take, give to a member, change. own_tickets.py wraps those that members use.

Every answer goes to the asker through the outbox, in the same transaction (notifications.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import override

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.members.models import Member
from apps.members.services import explain_erased_member
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting
from apps.tickets import notifications, thread
from apps.tickets.attachments import AttachmentFile, check_files
from apps.tickets.models import Attachment, Message, Ticket

log = structlog.get_logger()
LONGEST = 50_000  # characters of a message
LONGEST_SUBJECT = 200
MOST_TAGS, LONGEST_TAG = 10, 30


@dataclass(frozen=True, slots=True)
class TicketFacts:
    """Properties of a ticket that staff sets."""

    state: str
    priority: int
    assignee: User | None
    tags: Sequence[str]


def open_ticket(*, subject: str, text: str, member: Member, files: Sequence[AttachmentFile] = (), by: User) -> Ticket:
    """Open a ticket for the member's question, and notify the staff who want such mails."""
    return _create_ticket(Message(kind=Message.Kind.MEMBER, text=text, author=by), subject, member, files)


def write_to(*, member: Member, subject: str, text: str, files: Sequence[AttachmentFile] = (), by: User) -> Ticket:
    """Open a ticket with staff's first message to a member."""
    return _create_ticket(Message(kind=Message.Kind.ANSWER, text=text, author=by), subject, member, files)


def _create_ticket(first: Message, subject: str, member: Member, files: Sequence[AttachmentFile]) -> Ticket:
    kept = validate_subject(subject)
    check_text(first.text, files)
    with transaction.atomic():
        ticket = Ticket.objects.create(subject=kept, member=member, language=member.language)
        ticket.refresh_from_db()
        first.ticket = ticket
        _check_files_arrive(first, files)
        thread.add_message(first, files)
        if first.kind == Message.Kind.ANSWER and first.author:
            _assign_if_free(ticket, first.author)
            Ticket.objects.filter(pk=ticket.pk).update(first_answered_at=F("opened_at"))
            thread.mark_answered(ticket, Ticket.State.WAITING)
            notifications.write_answer_mail(first)
        else:
            notifications.notify_staff_of_new_ticket(first)
    return ticket


def answer_ticket(*, ticket: Ticket, text: str, files: Sequence[AttachmentFile] = (), solved: bool = False, by: User) -> Message:
    """Write to the asker; a ticket without assignee becomes the writer's. Raise Problem for a text or files that are not allowed."""
    check_text(text, files)
    with transaction.atomic():
        current = thread.lock_ticket(ticket.pk)
        message = Message(ticket=current, kind=Message.Kind.ANSWER, text=text, author=by)
        _check_files_arrive(message, files)
        thread.add_message(message, files)
        _assign_if_free(current, by)
        thread.mark_answered(current, Ticket.State.SOLVED if solved else Ticket.State.WAITING)
        notifications.write_answer_mail(message)
    return message


def add_note(*, ticket: Ticket, text: str, files: Sequence[AttachmentFile] = (), by: User) -> Message:
    """Add an internal note. The ticket's state stays."""
    check_text(text, files)
    with transaction.atomic():
        return thread.add_message(Message(ticket=thread.lock_ticket(ticket.pk), kind=Message.Kind.NOTE, text=text, author=by), files)


def remove_file(*, file: Attachment, by: User) -> None:
    """Delete a file for good, which frees its sender's quota, and add a note about it. Idempotent."""
    with transaction.atomic():
        current = thread.lock_ticket(file.message.ticket_id)
        if Attachment.objects.filter(pk=file.pk).delete()[0]:
            facts = {"name": file.name, "size": formats.format_volume(file.size)}
            with override(read_setting(DEFAULT_LANGUAGE)):
                text = _("Removed a file: “%(name)s”, %(size)s.") % facts
            thread.add_message(Message(ticket=current, kind=Message.Kind.NOTE, text=text, author=by))
    log.info("file of a ticket removed", ticket=current.pk, file=file.pk, by=by.username)


def take_ticket(*, ticket: Ticket, by: User) -> None:
    """Assign the ticket to the user. Raise Conflict when another user took it first. Idempotent."""
    free = Ticket.objects.filter(pk=ticket.pk, assignee=None, merged_into=None)
    if free.update(assignee=by, version=F("version") + 1, touched_at=Now()):
        return
    holder = Ticket.objects.select_related("assignee").get(pk=ticket.pk).assignee
    if holder and holder != by:
        raise Conflict(_("%(who)s has taken this ticket meanwhile.") % {"who": holder.name}, culprit=holder)


def assign_member(*, ticket: Ticket, member: Member, by: User) -> None:
    """Give a ticket without a member to a member, who then sees it and gets the answers. Messages of strangers stay marked.

    Raise Problem for a member with erased data, Conflict when the ticket has a member by now.
    """
    if member.erased_at:
        raise Problem(explain_erased_member(), "member")
    free = Ticket.objects.filter(pk=ticket.pk, member=None, merged_into=None)
    if not free.update(member=member, language=member.language, version=F("version") + 1, touched_at=Now()):
        raise Conflict(_("This ticket was assigned to a member by someone else meanwhile. Look at it again."))
    log.info("ticket became a member's", ticket=ticket.pk, member=member.number, by=by.username)


def change_ticket(*, ticket: Ticket, version: int, facts: TicketFacts, by: User) -> None:
    """Set state, priority, assignee and tags. Raise Conflict when the ticket's version changed since it was read.

    A message that changes the ticket's state changes its version, too.
    """
    check_facts(facts.state, facts.priority, facts.assignee)
    given = {"state": facts.state, "priority": facts.priority, "assignee": facts.assignee, "tags": validate_tags(facts.tags)}
    current = Ticket.objects.filter(pk=ticket.pk, version=version, merged_into=None)
    if not current.update(version=F("version") + 1, touched_at=Now(), **given):
        raise Conflict(
            _("This ticket was changed, or written to, by someone else while you were editing. Look at it as it is now, then save again.")
        )
    log.info("ticket changed", ticket=ticket.pk, by=by.username)


def check_facts(state: str | None, priority: int | None, assignee: User | None) -> None:
    """Raise Problem for a state, priority or assignee that a ticket cannot have. None is not checked."""
    if state not in (None, *Ticket.State.values) or priority not in (None, *Ticket.Priority.values):
        raise Problem(_("Choose a state and a priority from the lists."), "state")
    if assignee and not has_right(assignee, Right.ANSWER):
        raise Problem(_("%(who)s may not answer tickets.") % {"who": assignee.name}, "assignee")


def validate_subject(subject: str) -> str:
    """Return the subject on one line. Raise Problem when it is empty or too long."""
    kept = " ".join(thread.tidy_text(subject).split())
    if not kept:
        raise Problem(_("Say in a few words what it is about."), "subject")
    if len(kept) > LONGEST_SUBJECT:
        raise Problem(
            _("%(length)d characters are too many; at most %(limit)d are allowed.") % {"length": len(kept), "limit": LONGEST_SUBJECT},
            "subject",
        )
    return kept


def validate_tags(tags: Sequence[str]) -> list[str]:
    """Return the tags in lower case, sorted, without duplicates. Raise Problem when there are too many, or one is too long."""
    kept = sorted({" ".join(tag.replace("\0", "").lower().split()) for tag in tags} - {""})
    if len(kept) > MOST_TAGS:
        raise Problem(_("%(number)d tags are too many; at most %(most)d are allowed.") % {"number": len(kept), "most": MOST_TAGS}, "tags")
    if long := next((tag for tag in kept if len(tag) > LONGEST_TAG), None):
        raise Problem(_("“%(tag)s” is too long: use at most %(limit)d characters.") % {"tag": long, "limit": LONGEST_TAG}, "tags")
    return kept


def _assign_if_free(ticket: Ticket, by: User) -> None:
    if ticket.assignee is None:
        Ticket.objects.filter(pk=ticket.pk).update(assignee=by, version=F("version") + 1)
        ticket.assignee = by


def check_text(text: str, files: Sequence[AttachmentFile]) -> None:
    length = len(thread.tidy_text(text))
    if not length:
        raise Problem(_("Write something first."), "text")
    if length > LONGEST:
        raise Problem(
            _("%(length)d characters are too many; at most %(limit)d are allowed.") % {"length": length, "limit": LONGEST}, "text"
        )
    check_files(files)


def _check_files_arrive(message: Message, files: Sequence[AttachmentFile]) -> None:
    member = message.ticket.member
    if files and message.kind == Message.Kind.ANSWER and not (member and member.user_id):
        raise Problem(_("The person who asked cannot sign in here, and mails carry no files. Send your answer without files."), "files")
