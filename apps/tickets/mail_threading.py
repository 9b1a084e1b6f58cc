"""Which ticket a mail belongs to: by its signed address, or by the Message-IDs of what was sent or came before, never by its subject.

Where a ticket was merged, it is the one that it points to; where messages were split off, answers to them go to the new one, also when
they come to the address of the old.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from apps.accounts.models import User
from apps.inbound.message import ReceivedMail
from apps.mail import models as outbox
from apps.tickets import addressing, thread
from apps.tickets.models import Message, Move, Ticket

LONGEST_ID: Final = 250
FOR_STAFF: Final = ("ticket_new", "ticket_reply", "ticket_unsent")  # mails whose readers are staff
KEY: Final = "ticket message "  # the key of a mail begins so, and goes on with the id of what it tells of


@dataclass(frozen=True)
class ThreadPlace:
    """Where a mail belongs: a ticket, and whoever of the staff wrote it. from_staff: to a mail for staff, but nobody proves who answers."""

    ticket: Ticket
    staff: User | None = None
    from_staff: bool = False


@dataclass(frozen=True)
class _KnownMail:
    """A mail that somebody refers to: of which ticket, telling of which message (0 where nobody knows), and whether for staff."""

    ticket: int
    message: int
    for_staff: bool = False


def normalize_message_id(message_id: str) -> str | None:
    """As the database keeps it: what is longer than that by its digest; None for none."""
    if len(message_id) > LONGEST_ID:
        return f"<{blake2b(message_id.encode(), digest_size=32).hexdigest()}@too.long>"
    return message_id or None


def find_place(mail: ReceivedMail) -> ThreadPlace | None:
    """None where it begins a thread."""
    named = [meant for each in mail.recipients if (meant := addressing.parse_signed_address(each.address))]
    known = _find_known_mail(_normalize_ids(reversed(mail.references)))
    for meant in sorted(named, key=lambda each: each.staff is None):  # who writes as staff means that
        if ticket := _find_ticket(meant.ticket):
            return ThreadPlace(_find_split_ticket(meant.ticket, ticket, known) or ticket, meant.staff)
    return ThreadPlace(ticket, from_staff=known.for_staff) if known and (ticket := _find_ticket(known.ticket)) else None


def find_bounced_mail(mail: ReceivedMail) -> tuple[Ticket, outbox.Message] | None:
    """Which of our own mails about a ticket could not be delivered."""
    sent = next(iter(_list_sent_mails(_normalize_ids(mail.bounced_ids))), None)
    ticket = _find_ticket(_identify_sent_mail(sent).ticket) if sent else None
    return (ticket, sent) if ticket and sent else None


def _normalize_ids(ids: Iterable[str]) -> list[str]:
    return [each for known in ids if (each := normalize_message_id(known))]


def _find_ticket(pk: int) -> Ticket | None:
    return Ticket.objects.filter(pk=thread.resolve_merged(pk)).first()


def _find_split_ticket(named: int, ticket: Ticket, known: _KnownMail | None) -> Ticket | None:
    """The ticket in which the message stands now that once stood in the one that was named."""
    if known is None or not known.message or known.ticket == ticket.pk:
        return None
    went = Move.objects.filter(source__in=[named, ticket.pk], messages__contains=[known.message])
    return _find_ticket(known.ticket) if went.exists() else None


def _find_known_mail(ids: Sequence[str]) -> _KnownMail | None:
    """The first of these that a ticket knows."""
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
    """Our own mails about tickets."""
    about = outbox.Message.objects.filter(message_id__in=ids, about_type=Ticket._meta.label_lower)
    return list(about.only("message_id", "about_id", "template", "key", "to"))


def _identify_sent_mail(sent: outbox.Message) -> _KnownMail:
    number = (sent.key or "").removeprefix(KEY).partition(" ")[0]
    message = Message.objects.filter(pk=int(number)).only("ticket").first() if number.isdigit() else None
    return _KnownMail(message.ticket_id if message else sent.about_id or 0, message.pk if message else 0, sent.template in FOR_STAFF)
