"""Handler that files inbound mail in tickets. `apps.inbound_mail.dispatcher` calls it in the transaction that completes the arrival.

mail_threading.py finds the ticket. The From header proves nothing: mail counts as its sender's only if our own receiving server
authenticated it, and as staff's only if it also came to a signed address; all other mail is marked as unverified. Automatic mail causes
no mail (RFC 3834).
"""

from datetime import timedelta
from mimetypes import guess_extension
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, gettext_noop, override

from apps.accounts.models import User
from apps.inbound_mail.automatic_mail import is_out_of_office
from apps.inbound_mail.dispatcher import MailRefused
from apps.inbound_mail.message import ReceivedMail
from apps.inbound_mail.models import Arrival
from apps.lib.email_address import is_same_address
from apps.mail import models as outbox
from apps.mail.redaction import redact_staff_addresses
from apps.members.selectors import list_by_email
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting
from apps.tickets import notifications, services, thread
from apps.tickets.attachment_quota import get_tightest_quota, get_total_quota
from apps.tickets.attachments import MAX_FILES_PER_MESSAGE, AttachmentFile, clean_file_name, explain_file_rejection
from apps.tickets.mail_threading import FOR_STAFF, ThreadPlace, find_bounced_mail, find_thread_place, normalize_message_id
from apps.tickets.models import Message, Ticket
from apps.tickets.quoting import strip_quote

OURS_AGAIN: Final = gettext_noop("The portal wrote this mail itself.")
BOUNCE_OF_NOTHING: Final = gettext_noop("It reports that a mail could not be delivered, but no ticket matches that mail.")
EMPTY: Final = gettext_noop("It has no text, no subject and no files.")
LOST_FILES: Final = gettext_lazy("Files that were not kept: %(names)s")
SAME_ID: Final = gettext_lazy("A different mail with the same Message-ID exists already. Both are kept.")
NOT_PROVEN: Final = gettext_lazy(
    "This mail came to the address at which %(who)s answers by mail. Its sender could not be verified, "
    "so it was kept as a note and not sent."
)
LOUD: Final = 10  # mails of one sender in an hour, after which further ones cause no notices
log = structlog.get_logger()


def handle_mail(arrival: Arrival, mail: ReceivedMail) -> None:
    """File one mail; the same octets with the same Message-ID are filed once. Raise MailRefused for the portal's own mail and for empty
    mail.
    """
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
    except IntegrityError as error:  # two workers filed two arrivals with one Message-ID at once
        if "message_id" not in str(error) and "came_as" not in str(error):
            raise
        _file_beside(arrival, mail)


def _file_beside(arrival: Arrival, mail: ReceivedMail) -> None:
    """File a mail with a Message-ID that is known already: ignore it if it is the same mail, otherwise add it as a message of its own.

    `inbound_once` already makes equal octets with the same Message-ID one arrival. A Message-ID that is too long for an arrival is not
    stored there; then the hash of the octets decides.
    """
    twins = Arrival.objects.filter(message_id="", sha256=arrival.sha256, state=Arrival.State.TAKEN).exclude(pk=arrival.pk)
    if not arrival.message_id and twins.exists():
        log.info("duplicate mail ignored", arrival=arrival.pk)
        return
    message = _file(mail, None)
    _add_side_note(message.ticket, mail, SAME_ID)


def _file(mail: ReceivedMail, key: str | None) -> Message:
    if mail.bounce:
        return _file_bounce(mail, key)
    found = find_thread_place(mail)
    if found is None:
        return _file_new_ticket(mail, key)
    if found.staff and _is_written_by(found.staff, mail):
        return _file_answer(found.ticket, found.staff, mail, key)
    return _file_note(found, mail, key) if found.staff or found.from_staff else _file_reply(found.ticket, mail, key)


def _is_written_by(staff: User, mail: ReceivedMail) -> bool:
    """True if this user wrote the mail: our own server authenticated their registered address, and the mail is not automatic."""
    own = mail.authenticated and is_same_address(_get_sender(mail), staff.email)
    return own and not mail.automatic and not is_out_of_office(mail.subject)


def _file_new_ticket(mail: ReceivedMail, key: str | None) -> Message:
    """Open a ticket: for the member if our server authenticated the sender, else without one; staff see which member has the address."""
    sender = _get_sender(mail)
    members = list_by_email(sender)
    member = members[0] if len(members) == 1 else None
    ticket = Ticket.objects.create(
        subject=_make_subject(mail), member=member if mail.authenticated else None, address=sender[:254],
        language=member.language if member else read_setting(DEFAULT_LANGUAGE),
    )  # fmt: skip
    ticket.refresh_from_db()
    quiet = mail.automatic or _is_loud(sender)
    message = _add_message(ticket, Message.Kind.MEMBER, mail, key, verified=mail.authenticated and bool(sender))
    if not quiet:
        notifications.notify_staff_of_new_ticket(message)
    return message


def _file_reply(ticket: Ticket, mail: ReceivedMail, key: str | None) -> Message:
    current, sender = thread.lock_ticket(ticket.pk), _get_sender(mail)
    verified = mail.authenticated and is_same_address(sender, notifications.get_asker_contact(current)[0])
    quiet = mail.automatic or _is_loud(sender)
    message = _add_message(current, Message.Kind.MEMBER, mail, key, verified=verified)
    if not mail.automatic:
        thread.hand_to_staff(current)
    if not quiet:
        notifications.notify_assignee_of_reply(message)
    return message


def _file_answer(ticket: Ticket, by: User, mail: ReceivedMail, key: str | None) -> Message:
    """File staff's mail as an answer, as if written on the page: the thread continues from the Message-ID of our own outgoing mail."""
    member = ticket.member
    files, lost = (
        _select_files(mail, get_total_quota().free_octets if mail.files else 0)
        if member and member.user_id
        else ([], _list_file_names(mail))
    )
    text = _cut_text(redact_staff_addresses(strip_quote(mail.text))) or "–"
    message = services.answer_ticket(ticket=ticket, text=text, files=files, by=by)
    Message.objects.filter(pk=message.pk).update(via=Message.Via.MAIL, came_as=key)
    if lost:
        text = _translate_for_staff(LOST_FILES, names=", ".join(lost[:MAX_FILES_PER_MESSAGE]))
        thread.add_message(Message(ticket=message.ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, author=by, text=text))
    return message


def _file_note(found: ThreadPlace, mail: ReceivedMail, key: str | None) -> Message:
    """File the mail as an internal note. It may have been meant as an answer: unless it is automatic or its sender writes too much,
    notify the user with the staff address that it came to.
    """
    quiet = mail.automatic or is_out_of_office(mail.subject) or _is_loud(_get_sender(mail))
    message = _add_message(thread.lock_ticket(found.ticket.pk), Message.Kind.NOTE, mail, key, verified=False)
    if found.staff and not quiet:
        _add_side_note(message.ticket, mail, NOT_PROVEN, who=found.staff.name)
        notifications.notify_of_rejected_answer(message, found.staff)
    return message


def _file_bounce(mail: ReceivedMail, key: str | None) -> Message:
    """File a bounce as a note. If an answer could not be delivered, it is staff's turn again."""
    sent = find_bounced_mail(mail)
    elsewhere = find_thread_place(mail) if sent is None else None
    found = sent[0] if sent else elsewhere.ticket if elsewhere else None
    if found is None:
        raise MailRefused(BOUNCE_OF_NOTHING)
    ticket = thread.lock_ticket(found.pk)
    message = _add_message(ticket, Message.Kind.NOTE, mail, key, verified=False)
    if sent and sent[1].template not in FOR_STAFF and ticket.state == Ticket.State.WAITING:
        thread.set_state(ticket, Ticket.State.OPEN)
    return message


def _add_message(ticket: Ticket, kind: Message.Kind, mail: ReceivedMail, key: str | None, *, verified: bool) -> Message:
    text = _cut_text(redact_staff_addresses(strip_quote(mail.text)))
    message = Message(
        ticket=ticket, kind=kind, via=Message.Via.MAIL, sender=_get_sender(mail), text=text, verified=verified, message_id=key
    )
    files, lost = _select_files(mail, get_tightest_quota(message).free_octets if mail.files else 0)
    made = thread.add_message(message, files)
    if lost:
        _add_side_note(ticket, mail, LOST_FILES, names=", ".join(lost[:MAX_FILES_PER_MESSAGE]))
    return made


def _add_side_note(ticket: Ticket, mail: ReceivedMail, words: Promise, **facts: str) -> None:
    """Add a note that tells staff something about a mail."""
    text = _translate_for_staff(words, **facts)
    thread.add_message(
        Message(ticket=ticket, kind=Message.Kind.NOTE, via=Message.Via.MAIL, sender=_get_sender(mail), text=text, verified=False)
    )


def _select_files(mail: ReceivedMail, room: int) -> tuple[list[AttachmentFile], list[str]]:
    """Return the files that are accepted and fit into the room (octets), and the names of the others."""
    kept, lost = list[AttachmentFile](), list[str]()
    for file in (AttachmentFile(_choose_file_name(each.name, each.media_type), each.octets) for each in mail.files):
        if len(kept) == MAX_FILES_PER_MESSAGE or explain_file_rejection(file) or len(file.octets) > room:
            lost.append(clean_file_name(file.name))
        else:
            kept.append(file)
            room -= len(file.octets)
    return kept, lost


def _list_file_names(mail: ReceivedMail) -> list[str]:
    return [clean_file_name(_choose_file_name(each.name, each.media_type)) for each in mail.files]


def _choose_file_name(name: str, media_type: str) -> str:
    return redact_staff_addresses(name) or f"file{guess_extension(media_type) or ''}"


def _translate_for_staff(words: Promise, **facts: str) -> str:
    """Return the text for staff, in the default language."""
    with override(read_setting(DEFAULT_LANGUAGE)):
        return str(words) % facts


def _make_subject(mail: ReceivedMail) -> str:
    words = " ".join(redact_staff_addresses(mail.subject).split())[: services.LONGEST_SUBJECT]
    return words or " ".join(redact_staff_addresses(mail.text).split())[:60] or "–"


def _cut_text(text: str) -> str:
    return text if len(text) <= services.LONGEST else f"{text[: services.LONGEST - 2]} …"


def _get_sender(mail: ReceivedMail) -> str:
    """Return the address in From; "" if there is none, or if it is one of our signed addresses for staff."""
    address = mail.sender.address[:320] if mail.sender else ""
    return address if redact_staff_addresses(address) == address else ""


def _is_loud(sender: str) -> bool:
    """True if the sender wrote LOUD mails within the last hour: it may be a machine that does not mark its mail as automatic.

    Notes without a Message-ID are not counted: nearly all of them are the portal's own, beside a mail.
    """
    lately = Message.objects.filter(via=Message.Via.MAIL, at__gt=timezone.now() - timedelta(hours=1), sender=sender)
    return lately.exclude(kind=Message.Kind.NOTE, message_id=None).count() >= LOUD
