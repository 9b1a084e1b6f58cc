"""Mail that came in becomes part of a ticket. Called by `apps.inbound.dispatcher` in the transaction in which the arrival is done.

Which ticket, mail_threading.py says. From proves nothing: mail counts as its sender's only where our own receiving server vouches for it,
and as staff's only at a signed address besides; anything else is marked. What a machine wrote causes no mail (RFC 3834).
"""

from datetime import timedelta
from mimetypes import guess_extension
from typing import Final

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, gettext_noop, override

from apps.accounts.models import User
from apps.inbound.automatic_mail import is_out_of_office
from apps.inbound.dispatcher import MailRefused
from apps.inbound.message import ReceivedMail
from apps.inbound.models import Arrival
from apps.lib.email_address import is_same_address
from apps.mail import models as outbox
from apps.mail.redaction import redact
from apps.members.selectors import list_by_email
from apps.tickets import notifications, services, thread
from apps.tickets.attachment_quota import get_tightest_quota, get_total_quota
from apps.tickets.attachments import MOST, AttachmentFile, clean_file_name, explain_rejection
from apps.tickets.mail_threading import FOR_STAFF, ThreadPlace, find_bounced_mail, find_place, normalize_message_id
from apps.tickets.models import Message, Ticket
from apps.tickets.quoting import strip_quote

OURS_AGAIN: Final = gettext_noop("The portal wrote this mail itself.")
BOUNCE_OF_NOTHING: Final = gettext_noop("It says that a mail could not be delivered, but no ticket knows that mail.")
EMPTY: Final = gettext_noop("It has no text, no subject and no files.")
LOST_FILES: Final = gettext_lazy("Files that were not kept: %(names)s")
SAME_ID: Final = gettext_lazy("Another mail with the same Message-ID, but other words, is there already. Both are kept.")
NOT_PROVEN: Final = gettext_lazy(
    "This came to the address at which %(who)s answers by mail. Nothing proves that they wrote it, so it went to nobody."
)
LOUD: Final = 10  # mails of one sender in an hour, after which nobody is told of more
log = structlog.get_logger()


def handle_mail(arrival: Arrival, mail: ReceivedMail) -> None:
    """File one mail; the same octets under the same Message-ID once. Raises Refused for what nobody could do anything with."""
    key = normalize_message_id(mail.message_id)
    if key and outbox.Message.objects.filter(message_id=key).exists():
        raise MailRefused(OURS_AGAIN)
    if not (mail.bounce or mail.text.strip() or mail.subject or mail.files):
        raise MailRefused(EMPTY)
    if key and Message.objects.filter(Q(message_id=key) | Q(came_as=key)).exists():
        return _file_beside(arrival, mail)
    try:
        with transaction.atomic():
            _file(mail, key)
    except IntegrityError as error:  # two workers, two arrivals, one Message-ID
        if "message_id" not in str(error) and "came_as" not in str(error):
            raise
        _file_beside(arrival, mail)


def _file_beside(arrival: Arrival, mail: ReceivedMail) -> None:
    """A mail whose Message-ID is there already: nothing when it is the same mail, else a message of its own.

    With a Message-ID that an arrival holds, the same octets are one arrival already (`inbound_once`); of longer ones, octets tell.
    """
    twins = Arrival.objects.filter(message_id="", sha256=arrival.sha256, state=Arrival.State.TAKEN).exclude(pk=arrival.pk)
    if not arrival.message_id and twins.exists():
        log.info("mail is there already", arrival=arrival.pk)
        return
    message = _file(mail, None)
    _add_side_note(message.ticket, mail, SAME_ID)


def _file(mail: ReceivedMail, key: str | None) -> Message:
    if mail.bounce:
        return _file_bounce(mail, key)
    found = find_place(mail)
    if found is None:
        return _file_new_ticket(mail, key)
    if found.staff and _is_written_by(found.staff, mail):
        return _file_answer(found.ticket, found.staff, mail, key)
    return _file_note(found, mail, key) if found.staff or found.from_staff else _file_reply(found.ticket, mail, key)


def _is_written_by(staff: User, mail: ReceivedMail) -> bool:
    """Whether this person wrote it: from the registered address, by the word of our own server, and no machine in their stead."""
    own = mail.authenticated and is_same_address(_get_sender(mail), staff.email)
    return own and not mail.automatic and not is_out_of_office(mail.subject)


def _file_new_ticket(mail: ReceivedMail, key: str | None) -> Message:
    """A ticket of the member only where our server vouches for the sender; else of nobody, and staff see whose address it is."""
    sender = _get_sender(mail)
    members = list_by_email(sender)
    member = members[0] if len(members) == 1 else None
    ticket = Ticket.objects.create(
        subject=_make_subject(mail), member=member if mail.authenticated else None, address=sender[:254],
        language=member.language if member else settings.LANGUAGE_CODE[:2],
    )  # fmt: skip
    ticket.refresh_from_db()
    quiet = mail.automatic or _is_loud(sender)
    message = _add_message(ticket, Message.Kind.MEMBER, mail, key, verified=mail.authenticated and bool(sender))
    if not quiet:
        notifications.tell_of_new(message)
    return message


def _file_reply(ticket: Ticket, mail: ReceivedMail, key: str | None) -> Message:
    current, sender = thread.lock_ticket(ticket.pk), _get_sender(mail)
    verified = mail.authenticated and is_same_address(sender, notifications.get_asker(current)[0])
    quiet = mail.automatic or _is_loud(sender)
    message = _add_message(current, Message.Kind.MEMBER, mail, key, verified=verified)
    if not mail.automatic:
        thread.hand_to_staff(current)
    if not quiet:
        notifications.tell_of_reply(message)
    return message


def _file_answer(ticket: Ticket, by: User, mail: ReceivedMail, key: str | None) -> Message:
    """As staff would on the page: the Message-ID that the thread goes on from is that of our own mail."""
    member = ticket.member
    files, lost = (
        _select_files(mail, get_total_quota().left if mail.files else 0) if member and member.user_id else ([], _list_file_names(mail))
    )
    text = _cut_text(redact(strip_quote(mail.text))) or "–"
    message = services.answer_ticket(ticket=ticket, text=text, files=files, by=by)
    Message.objects.filter(pk=message.pk).update(via=Message.Via.MAIL, came_as=key)
    if lost:
        text = _translate_for_staff(LOST_FILES, names=", ".join(lost[:MOST]))
        thread.add_message(Message(ticket=ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, author=by, text=text))
    return message


def _file_note(found: ThreadPlace, mail: ReceivedMail, key: str | None) -> Message:
    """An internal note. Whose address it came to is told, unless a machine wrote it: perhaps it was meant as an answer."""
    quiet = mail.automatic or is_out_of_office(mail.subject) or _is_loud(_get_sender(mail))
    message = _add_message(thread.lock_ticket(found.ticket.pk), Message.Kind.NOTE, mail, key, verified=False)
    if found.staff and not quiet:
        _add_side_note(message.ticket, mail, NOT_PROVEN, who=found.staff.name)
        notifications.tell_of_unsent(message, found.staff)
    return message


def _file_bounce(mail: ReceivedMail, key: str | None) -> Message:
    """What could not be delivered is our turn again."""
    sent = find_bounced_mail(mail)
    elsewhere = find_place(mail) if sent is None else None
    found = sent[0] if sent else elsewhere.ticket if elsewhere else None
    if found is None:
        raise MailRefused(BOUNCE_OF_NOTHING)
    ticket = thread.lock_ticket(found.pk)
    message = _add_message(ticket, Message.Kind.NOTE, mail, key, verified=False)
    if sent and sent[1].template not in FOR_STAFF and ticket.state == Ticket.State.WAITING:
        thread.set_state(ticket, Ticket.State.OPEN)
    return message


def _add_message(ticket: Ticket, kind: Message.Kind, mail: ReceivedMail, key: str | None, *, verified: bool) -> Message:
    text = _cut_text(redact(strip_quote(mail.text)))
    message = Message(
        ticket=ticket, kind=kind, via=Message.Via.MAIL, sender=_get_sender(mail), text=text, verified=verified, message_id=key
    )
    files, lost = _select_files(mail, get_tightest_quota(message).left if mail.files else 0)
    made = thread.add_message(message, files)
    if lost:
        _add_side_note(ticket, mail, LOST_FILES, names=", ".join(lost[:MOST]))
    return made


def _add_side_note(ticket: Ticket, mail: ReceivedMail, words: Promise, **facts: str) -> None:
    """What staff should know of a mail."""
    text = _translate_for_staff(words, **facts)
    thread.add_message(
        Message(ticket=ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, sender=_get_sender(mail), text=text, verified=False)
    )


def _select_files(mail: ReceivedMail, room: int) -> tuple[list[AttachmentFile], list[str]]:
    """Those that are kept, as far as there is room in octets, and the names of the others."""
    kept, lost = list[AttachmentFile](), list[str]()
    for file in (AttachmentFile(_choose_file_name(each.name, each.media_type), each.octets) for each in mail.files):
        if len(kept) == MOST or explain_rejection(file) or len(file.octets) > room:
            lost.append(clean_file_name(file.name))
        else:
            kept.append(file)
            room -= len(file.octets)
    return kept, lost


def _list_file_names(mail: ReceivedMail) -> list[str]:
    return [clean_file_name(_choose_file_name(each.name, each.media_type)) for each in mail.files]


def _choose_file_name(name: str, media_type: str) -> str:
    return redact(name) or f"file{guess_extension(media_type) or ''}"


def _translate_for_staff(words: Promise, **facts: str) -> str:
    """For staff, in the site's language."""
    with override(settings.LANGUAGE_CODE):
        return str(words) % facts


def _make_subject(mail: ReceivedMail) -> str:
    words = " ".join(redact(mail.subject).split())[: services.LONGEST_SUBJECT]
    return words or " ".join(redact(mail.text).split())[:60] or "–"


def _cut_text(text: str) -> str:
    return text if len(text) <= services.LONGEST else f"{text[: services.LONGEST - 2]} …"


def _get_sender(mail: ReceivedMail) -> str:
    """The address in From, "" if none; one of ours for staff is nobody's."""
    address = mail.sender.address[:320] if mail.sender else ""
    return address if redact(address) == address else ""


def _is_loud(sender: str) -> bool:
    """Whether so much came from there within an hour that nobody is told of more: it may be a machine that does not say so."""
    lately = Message.objects.filter(via=Message.Via.MAIL, at__gt=timezone.now() - timedelta(hours=1), sender=sender)
    return lately.count() >= LOUD
