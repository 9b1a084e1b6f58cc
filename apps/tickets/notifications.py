"""Mails about tickets: answers to the asker and notices to staff, written in the transaction of the message that they are about.

An answer continues the thread in the reader's mail program (RFC 5322, 3.6.4); replies to it go to the ticket's own address.
"""

from collections.abc import Sequence
from typing import Final

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right, list_roles_with_right
from apps.lib.email_address import is_same_address, lower_ascii
from apps.mail.mail_templates import PlainValue
from apps.mail.models import SwitchedOff
from apps.mail.services import write_mail
from apps.mail.unsubscribing import list_unsubscribed_addresses
from apps.tickets import addressing
from apps.tickets.models import Message, Ticket

KIND: Final = "tickets"
ANSWERS: Final = "answers"  # to members with a page of their own, which shows them, too
REFERENCES: Final = 20  # Message-IDs that a mail names: the first, and the last ones
EXCERPT: Final = 2000  # characters that a notice quotes


def build_message_mail_key(message: int) -> str:
    """Return the key of the mail for an answer. Keys of notices add a space and the reader."""
    return f"ticket message {message}"


def get_asker_contact(ticket: Ticket) -> tuple[str, str]:
    """Return the asker's address and language, whether they want mails or not."""
    return (ticket.member.email, ticket.member.language) if ticket.member else (ticket.address, ticket.language)


def get_answer_recipient(ticket: Ticket) -> tuple[str, str]:
    """Return the address that answers go to, "" for none, and the reader's language."""
    return list_answer_recipients([ticket])[0]


def list_answer_recipients(tickets: Sequence[Ticket]) -> list[tuple[str, str]]:
    """Return the readers of many tickets, in their order, with one query. Only members with an account, and so a page, can switch mails
    off.
    """
    of_accounts = [each.member.email for each in tickets if each.member and each.member.user_id]
    off = list_unsubscribed_addresses(of_accounts, ANSWERS)

    def wanted(ticket: Ticket, address: str) -> str:
        return "" if ticket.member and ticket.member.user_id and lower_ascii(address) in off else address

    return [(wanted(each, address), language) for each in tickets for address, language in [get_asker_contact(each)]]


def write_answer_mail(message: Message) -> None:
    """Write the answer as a mail, unless there is no address, and save the mail's Message-ID with the message."""
    ticket, (to, language) = message.ticket, get_answer_recipient(message.ticket)
    if not to:
        return
    before = list_references(message)
    context: dict[str, PlainValue] = {
        "ticket": ticket.pk, "subject": ticket.subject, "text": message.text, "who": message.author.name if message.author else "",
        "files": [each.name for each in message.attachments.all()],
        "continues": ticket.messages.exclude(pk=message.pk).exclude(kind=Message.Kind.NOTE).exists(),
        "url": f"{settings.PORTAL_URL}{reverse('own:ticket', args=[ticket.pk])}" if ticket.member_id else "",
        "by_mail": bool(settings.SUPPORT_ADDRESS),
    }  # fmt: skip
    mail = write_mail(
        to=to, language=language, template="ticket_answer", context=context, about=ticket, key=build_message_mail_key(message.pk),
        reply_to=addressing.build_ticket_address(ticket.pk), in_reply_to=before[-1] if before else "", references=before, automatic=False,
        notice=ANSWERS if ticket.member and ticket.member.user_id else "",
    )  # fmt: skip
    if mail:
        Message.objects.filter(pk=message.pk).update(message_id=mail.message_id)


def list_references(message: Message) -> list[str]:
    """Return the Message-IDs of the thread without this message, the oldest first, without internal notes; at most REFERENCES."""
    thread = message.ticket.messages.exclude(pk=message.pk).exclude(kind=Message.Kind.NOTE).exclude(message_id=None)
    known = [str(each) for each in thread.order_by("at", "id").values_list("message_id", flat=True)]
    return known if len(known) <= REFERENCES else [known[0], *known[1 - REFERENCES :]]


def notify_staff_of_new_ticket(message: Message) -> None:
    """Notify all staff of a new ticket who answer tickets and want these mails."""
    for user in list_new_ticket_recipients():
        _write_notice("ticket_new", message, user)


def notify_assignee_of_reply(message: Message) -> None:
    """Notify the ticket's assignee of a reply, unless they wrote it or may not answer tickets any more."""
    user = message.ticket.assignee
    if user and user.email and user != message.author and has_right(user, Right.ANSWER):
        _write_notice("ticket_reply", message, user)


def list_new_ticket_recipients() -> list[User]:
    """Return the users who answer tickets, have an address and did not switch these mails off."""
    unwilling = {lower_ascii(address) for address in SwitchedOff.objects.filter(notice=KIND).values_list("address", flat=True)}
    staff = User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.ANSWER)).exclude(email="").order_by("pk")
    return [user for user in staff if lower_ascii(user.email) not in unwilling]


def notify_of_rejected_answer(message: Message, user: User) -> None:
    """Notify the user with the staff address that a mail came to that the mail was not accepted as their answer.

    The notice goes to the registered address, once an hour for each ticket, because anyone who has seen the staff address may write to it.
    """
    if not user.email:
        return
    ticket = message.ticket
    context: dict[str, PlainValue] = {
        "ticket": ticket.pk, "sender": message.sender, "yours": user.email, "same": is_same_address(message.sender, user.email),
        "url": f"{settings.PORTAL_URL}{reverse('tickets:ticket', args=[ticket.pk])}",
    }  # fmt: skip
    key = f"ticket {ticket.pk} unsent {user.pk} {timezone.now():%Y-%m-%d %H}"
    write_mail(to=user.email, language=user.mail_language, template="ticket_unsent", context=context, about=ticket, key=key)


def can_answer_by_mail() -> bool:
    """True if staff can answer by mail: inbound mail is configured, and a server that authenticates its senders."""
    return bool(settings.SUPPORT_ADDRESS and settings.MAIL_IN_AUTHSERV_ID)


def get_author_name(message: Message) -> str:
    """Return the writer's name: of the signed-in user, of the member if our mail server authenticated the address, else the address."""
    member = message.ticket.member
    if message.author:
        return str(member) if member and member.user_id == message.author_id else message.author.name
    if member and message.verified and is_same_address(message.sender, member.email):
        return str(member)
    return message.sender


def _write_notice(template: str, message: Message, user: User) -> None:
    ticket = message.ticket
    context: dict[str, PlainValue] = {
        "ticket": ticket.pk, "subject": ticket.subject, "who": get_author_name(message), "verified": message.verified,
        "text": message.text[:EXCERPT], "more": len(message.text) > EXCERPT, "by_mail": can_answer_by_mail(),
        "url": f"{settings.PORTAL_URL}{reverse('tickets:ticket', args=[ticket.pk])}",
    }  # fmt: skip
    write_mail(
        to=user.email, language=user.mail_language, template=template, context=context, about=ticket, notice=KIND,
        key=f"{build_message_mail_key(message.pk)} to {user.pk}", reply_to=addressing.build_staff_reply_address(user, ticket.pk),
    )  # fmt: skip
