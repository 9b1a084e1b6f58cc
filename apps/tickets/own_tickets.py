"""Queries and services for members' own tickets: without internal notes, and with a limit on messages an hour."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.preferences.declarations import MESSAGES_AN_HOUR
from apps.preferences.selectors import read_setting
from apps.tickets import notifications, services, thread
from apps.tickets.attachments import AttachmentFile
from apps.tickets.models import Attachment, Message, Ticket


def list_own_tickets(member: Member) -> QuerySet[Ticket]:
    """Return the member's own tickets, the last touched first, without merged ones."""
    return Ticket.objects.filter(member=member, merged_into=None).order_by("-touched_at", "-id")


def find_merge_target(member: Member, pk: int) -> int | None:
    """Return the id of the member's ticket that this one was merged into, if any."""
    return Ticket.objects.filter(member=member, pk=pk, merged_into__member=member).values_list("merged_into", flat=True).first()


def list_messages(ticket: Ticket) -> QuerySet[Message]:
    """Return the thread without internal notes."""
    files = Prefetch("attachments", Attachment.objects.order_by("id"))
    return ticket.messages.exclude(kind=Message.Kind.NOTE).select_related("author").prefetch_related(files).order_by("at", "id")


def list_downloadable_attachments(member: Member) -> QuerySet[Attachment]:
    """Return the files that the member may download: those in their tickets, except in internal notes."""
    return Attachment.objects.filter(message__ticket__member=member).exclude(message__kind=Message.Kind.NOTE).select_related("content")


def open_own_ticket(*, member: Member, subject: str, text: str, files: Sequence[AttachmentFile] = (), by: User) -> Ticket:
    """Open a ticket. Raise Problem for an empty text, files that are not allowed, or too many messages within an hour."""
    with transaction.atomic():
        _check_pace(member)
        return services.open_ticket(subject=subject, text=text, member=member, files=files, by=by)


def reply_to_ticket(*, member: Member, ticket: Ticket, text: str, files: Sequence[AttachmentFile] = (), by: User) -> Message:
    """Add the member's message to the ticket and reopen it if it was solved. Raise Problem as `open_own_ticket` does."""
    services.check_text(text, files)
    with transaction.atomic():
        _check_pace(member)
        current = thread.lock_ticket(ticket.pk)
        message = thread.add_message(Message(ticket=current, kind=Message.Kind.MEMBER, text=text, author=by), files)
        thread.hand_to_staff(current)
        notifications.notify_assignee_of_reply(message)
    return message


def _check_pace(member: Member) -> None:
    """Raise Problem after too many messages within an hour. Locks the member, so that concurrent requests are counted in turn."""
    Member.objects.select_for_update(of=("self",)).get(pk=member.pk)
    lately = Message.objects.filter(ticket__member=member, kind=Message.Kind.MEMBER, at__gt=timezone.now() - timedelta(hours=1))
    most = read_setting(MESSAGES_AN_HOUR)
    if lately.count() >= most:
        raise Problem(_("You have written %(most)d times within an hour. Wait a little.") % {"most": most})
