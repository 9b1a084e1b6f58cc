"""Finds the ticket that a mail belongs to: by its signed address, or by the Message-IDs of earlier mails, never by its subject.

Mails to a merged ticket go to the ticket that it was merged into. Answers to messages that were split off go to the new ticket, even if
they come to the address of the old one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from apps.accounts.models import User
from apps.inbound_mail.message import ReceivedMail
from apps.mail import models as outbox
from apps.tickets import addressing, thread
from apps.tickets.models import Message, Move, Ticket

LONGEST_ID: Final = 250
FOR_STAFF: Final = ("ticket_new", "ticket_reply", "ticket_unsent")  # mails whose readers are staff
KEY: Final = "ticket message "  # prefix of a mail's key; the id of its ticket message follows


@dataclass(frozen=True)
class ThreadPlace:
    """The ticket that a mail belongs to. staff: the user of the signed address it came to; from_staff: it answers a mail to staff, but
    without a signed address that proves the writer.
    """

    ticket: Ticket
    staff: User | None = None
    from_staff: bool = False


@dataclass(frozen=True)
class _KnownMail:
    """An earlier mail that a mail refers to: ids of its ticket and of its message (0 where unknown), and whether it went to staff."""

    ticket: int
    message: int
    for_staff: bool = False


def normalize_message_id(message_id: str) -> str | None:
    """Return the Message-ID as the database keeps it: a digest where it is too long, None for ""."""
    if len(message_id) > LONGEST_ID:
        return f"<{blake2b(message_id.encode(), digest_size=32).hexdigest()}@too.long>"
    return message_id or None


def find_thread_place(mail: ReceivedMail) -> ThreadPlace | None:
    """Return the ticket that the mail belongs to, or None when it begins a new thread."""
    named = [meant for each in mail.recipients if (meant := addressing.parse_signed_address(each.address))]
    known = _find_known_mail(_normalize_ids(reversed(mail.references)))
    for meant in sorted(named, key=lambda each: each.staff is None):  # an address for staff takes precedence
        if ticket := _find_ticket(meant.ticket):
            return ThreadPlace(_find_split_ticket(meant.ticket, ticket, known) or ticket, meant.staff)
    return ThreadPlace(ticket, from_staff=known.for_staff) if known and (ticket := _find_ticket(known.ticket)) else None


def find_bounced_mail(mail: ReceivedMail) -> tuple[Ticket, outbox.Message] | None:
    """Return the ticket and our own mail about it that could not be delivered, or None where neither is known."""
    sent = next(iter(_list_sent_mails(_normalize_ids(mail.bounced_ids))), None)
    ticket = _find_ticket(_identify_sent_mail(sent).ticket) if sent else None
    return (ticket, sent) if ticket and sent else None


def _normalize_ids(ids: Iterable[str]) -> list[str]:
    return [each for known in ids if (each := normalize_message_id(known))]


def _find_ticket(pk: int) -> Ticket | None:
    return Ticket.objects.filter(pk=thread.resolve_merged(pk)).first()


def _find_split_ticket(named: int, ticket: Ticket, known: _KnownMail | None) -> Ticket | None:
    """Return the present ticket of the known message if the message was moved out of the named ticket, otherwise None."""
    if known is None or not known.message or known.ticket == ticket.pk:
        return None
    went = Move.objects.filter(source__in=[named, ticket.pk], messages__contains=[known.message])
    return _find_ticket(known.ticket) if went.exists() else None


def _find_known_mail(ids: Sequence[str]) -> _KnownMail | None:
    """Return the first of these Message-IDs that belongs to a ticket."""
    said = {
        row.message_id: row
        for row in Message.objects.exclude(kind=Message.Kind.NOTE).filter(message_id__in=ids).only("message_id", "ticket")
    }
    sent = {row.message_id: row for row in _list_sent_mails(ids)}
    for each in ids:
        if each in said:
            return _KnownMail(said[each].ticket_id, said[each].pk, each in sent and sent[each].template in FOR_STAFF)
        if each in sent:
            return _identify_sent_mail(sent[each])
    return None


def _list_sent_mails(ids: Sequence[str]) -> list[outbox.Message]:
    """Return our own mails about tickets with these Message-IDs."""
    about = outbox.Message.objects.filter(message_id__in=ids, about_type=Ticket._meta.label_lower)
    return list(about.only("message_id", "about_id", "template", "key", "to"))


def _identify_sent_mail(sent: outbox.Message) -> _KnownMail:
    number = (sent.key or "").removeprefix(KEY).partition(" ")[0]
    message = Message.objects.filter(pk=int(number)).only("ticket").first() if number.isdigit() else None
    return _KnownMail(message.ticket_id if message else sent.about_id or 0, message.pk if message else 0, sent.template in FOR_STAFF)
