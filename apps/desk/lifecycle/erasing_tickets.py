"""Erasing a member's tickets and messages: their own tickets, those that came by mail, and their messages in tickets of others.

What stays is that there was a ticket, when, and how it ended.
"""

from collections.abc import Sequence

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from apps.desk.lifecycle.erasing_rows import erase_rows_and_history
from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii
from apps.mail.models import Message as Mail
from apps.members.models import Member
from apps.tickets.models import Attachment, Message, Ticket
from apps.tickets.notifications import build_message_mail_key


def erase_tickets(member: Member, addresses: Sequence[str]) -> None:
    """Erase the texts of the member's tickets and messages. addresses: e-mail addresses that belong to this member only."""
    small = [lower_ascii(each) for each in addresses]
    account = member.user if member.user and not member.user.is_staff else None
    written = Message.objects.alias(by_mail=AsciiLower("sender")).filter(Q(by_mail__in=small) | Q(author=account, author__isnull=False))
    tickets = [*Ticket.objects.filter(member=member).values_list("pk", flat=True), *_list_unowned_tickets(small, written)]
    messages = list({*written.values_list("pk", flat=True), *Message.objects.filter(ticket__in=tickets).values_list("pk", flat=True)})
    erase_rows_and_history(Ticket, {"pk__in": tickets}, {"subject": "–", "address": "", "tags": []})
    Attachment.objects.filter(message__in=messages).delete()
    _erase_mails(tickets, messages)
    Message.objects.filter(pk__in=messages).update(text="", sender="", message_id=None, came_as=None)


def _list_unowned_tickets(addresses: Sequence[str], written: QuerySet[Message]) -> list[int]:
    """Return tickets without a member that were opened from these addresses, or to which no other sender wrote.

    The latter come from splitting off these messages.
    """
    opened = Ticket.objects.alias(small=AsciiLower("address")).filter(member=None, small__in=addresses)
    told = Message.objects.filter(kind=Message.Kind.MEMBER, ticket__member=None)
    others = told.exclude(pk__in=written.values("pk")).values("ticket")
    alone = Ticket.objects.filter(member=None, pk__in=written.values("ticket")).exclude(pk__in=others)
    return [*opened.values_list("pk", flat=True), *alone.values_list("pk", flat=True)]


def _erase_mails(tickets: Sequence[int], messages: Sequence[int]) -> None:
    """Erase mails about these tickets, and about these messages in tickets of others; waiting mails are deleted, not sent."""
    of_messages = Q(key__in=[build_message_mail_key(pk) for pk in messages])
    for pk in messages:
        of_messages |= Q(key__startswith=f"{build_message_mail_key(pk)} ")
    told = Mail.objects.filter(Q(about_type=Ticket._meta.label_lower, about_id__in=tickets) | of_messages)
    told.filter(state=Mail.State.WAITING).delete()
    told.update(subject="–", text="", html="", in_reply_to="", references="", erased=Now())
