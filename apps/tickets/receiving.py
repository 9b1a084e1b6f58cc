"""Mail that came in becomes part of a ticket. Called by `apps.inbound.receiving` in the transaction in which the arrival is done.

Which ticket, places.py says. From proves nothing: mail acts as staff by a signed address alone, and what comes from a stranger is
marked. What a machine wrote causes no mail (RFC 3834).
"""

from datetime import timedelta
from mimetypes import guess_extension
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, override

from apps.accounts.models import User
from apps.inbound.message import Received
from apps.inbound.models import Arrival
from apps.inbound.receiving import Refused
from apps.mail import models as outbox
from apps.members.models import Member
from apps.tickets import services, telling, thread
from apps.tickets.attachments import MOST, File, kept_name, refused
from apps.tickets.models import Message, Ticket
from apps.tickets.places import FOR_STAFF, bounced, kept_id, place
from apps.tickets.quoting import without_staff_addresses, written

OURS_AGAIN: Final = gettext_noop("The portal wrote this mail itself.")
BOUNCE_OF_NOTHING: Final = gettext_noop("It says that a mail could not be delivered, but no ticket knows that mail.")
LOUD: Final = 10  # mails of one sender in an hour, after which nobody is told of more
log = structlog.get_logger()


def take(arrival: Arrival, mail: Received) -> None:
    """File one mail. A Message-ID that is there already is not filed again. Raises Refused for what nobody could do anything with."""
    key = kept_id(mail.message_id)
    if key and outbox.Message.objects.filter(message_id=key).exists():
        raise Refused(OURS_AGAIN)
    if key and Message.objects.filter(Q(message_id=key) | Q(came_as=key)).exists():
        log.info("mail is there already", arrival=arrival.pk)
        return
    try:
        with transaction.atomic():
            _bounced(mail, key) if mail.bounce else _filed(mail, key)
    except IntegrityError as error:  # two workers, two arrivals, one Message-ID
        if "message_id" not in str(error) and "came_as" not in str(error):
            raise
        log.info("mail is there already", arrival=arrival.pk)


def _filed(mail: Received, key: str | None) -> None:
    found = place(mail)
    if found is None:
        _opened(mail, key)
    elif found.staff and not mail.automatic:
        _answered(found.ticket, found.staff, mail, key)
    elif found.staff or found.from_staff:
        _noted(found.ticket, mail, key)
    else:
        _replied(found.ticket, mail, key)


def _opened(mail: Received, key: str | None) -> None:
    sender = _sender(mail)
    members = list(Member.objects.filter(email__iexact=sender).exclude(state=Member.State.LEFT)[:2]) if sender else []
    member = members[0] if len(members) == 1 else None
    quiet = mail.automatic or _loud(sender)
    language = member.language if member else settings.LANGUAGE_CODE[:2]
    ticket = Ticket.objects.create(subject=_subject(mail), member=member, address=sender[:254], language=language)
    ticket.refresh_from_db()
    message = _added(ticket, Message.Kind.MEMBER, mail, key, verified=True)
    if not quiet:
        telling.tell_of_new(message)


def _replied(ticket: Ticket, mail: Received, key: str | None) -> None:
    current, sender = thread.locked(ticket.pk), _sender(mail)
    known = {telling.asker(current)[0].lower(), current.address.lower()} - {""}
    quiet = mail.automatic or _loud(sender)
    message = _added(current, Message.Kind.MEMBER, mail, key, verified=sender.lower() in known)
    if not mail.automatic:
        thread.heard(current)
    if not quiet:
        telling.tell_of_reply(message)


def _answered(ticket: Ticket, by: User, mail: Received, key: str | None) -> None:
    """As staff would on the page: the Message-ID that the thread goes on from is that of our own mail."""
    member = ticket.member
    files, lost = _files(mail) if member and member.user_id else ([], _names(mail))
    text = _cut(without_staff_addresses(written(mail.text))) or "–"
    message = services.answer(ticket=ticket, text=text, files=files, by=by)
    Message.objects.filter(pk=message.pk).update(via=Message.Via.MAIL, came_as=key)
    if lost:
        thread.add(Message(ticket=ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, author=by, text=_in_words(lost)))


def _noted(ticket: Ticket, mail: Received, key: str | None) -> None:
    _added(thread.locked(ticket.pk), Message.Kind.NOTE, mail, key, verified=False)


def _bounced(mail: Received, key: str | None) -> None:
    """What could not be delivered is our turn again."""
    sent = bounced(mail)
    elsewhere = place(mail) if sent is None else None
    found = sent[0] if sent else elsewhere.ticket if elsewhere else None
    if found is None:
        raise Refused(BOUNCE_OF_NOTHING)
    ticket = thread.locked(found.pk)
    _added(ticket, Message.Kind.NOTE, mail, key, verified=False)
    if sent and sent[1].template not in FOR_STAFF and ticket.state == Ticket.State.WAITING:
        thread.turn(ticket, Ticket.State.OPEN)


def _added(ticket: Ticket, kind: Message.Kind, mail: Received, key: str | None, *, verified: bool) -> Message:
    files, lost = _files(mail)
    text = _cut(without_staff_addresses(written(mail.text)))
    message = Message(ticket=ticket, kind=kind, via=Message.Via.MAIL, sender=_sender(mail), text=text, verified=verified, message_id=key)
    made = thread.add(message, files)
    if lost:
        thread.add(Message(ticket=ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, sender=_sender(mail), text=_in_words(lost)))
    return made


def _files(mail: Received) -> tuple[list[File], list[str]]:
    """Those that are kept, and the names of the others."""
    given = [File(_name(each.name, each.media_type), each.octets) for each in mail.files]
    kept = [file for file in given if not refused(file)][:MOST]
    return kept, [kept_name(file.name) for file in given if file not in kept]


def _names(mail: Received) -> list[str]:
    return [kept_name(_name(each.name, each.media_type)) for each in mail.files]


def _name(name: str, media_type: str) -> str:
    return name or f"file{guess_extension(media_type) or ''}"


def _in_words(lost: list[str]) -> str:
    """For staff, in the site's language."""
    with override(settings.LANGUAGE_CODE):
        return gettext("Files that were not kept: %(names)s") % {"names": ", ".join(lost[:MOST])}


def _subject(mail: Received) -> str:
    words = " ".join(without_staff_addresses(mail.subject).split())[: services.LONGEST_SUBJECT]
    return words or " ".join(mail.text.split())[:60] or "–"


def _cut(text: str) -> str:
    return text if len(text) <= services.LONGEST else f"{text[: services.LONGEST - 2]} …"


def _sender(mail: Received) -> str:
    return mail.sender.address[:320] if mail.sender else ""


def _loud(sender: str) -> bool:
    """Whether so much came from there within an hour that nobody is told of more: it may be a machine that does not say so."""
    lately = Message.objects.filter(via=Message.Via.MAIL, at__gt=timezone.now() - timedelta(hours=1), sender=sender)
    return lately.count() >= LOUD
