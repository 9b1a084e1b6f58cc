"""Services that write mail, and that retry or discard it in the outbox. A mail is a row, written in the transaction of what it reports.

A worker sends it after the commit (`apps/mail/delivery.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import parseaddr
from uuid import uuid4

import structlog
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, connection, transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.enqueue import send_task
from apps.lib.errors import Conflict, Problem
from apps.mail import notice_kinds, unsubscribing
from apps.mail.mail_templates import PlainValue, render_mail
from apps.mail.models import Message, SwitchedOff

TASK = "workers.send_mail"
log = structlog.get_logger()


def write_mail(
    *,
    to: str,
    language: str,
    template: str,
    context: Mapping[str, PlainValue],
    about: Model | None = None,
    key: str | None = None,
    notice: str = "",
    reply_to: str = "",
    in_reply_to: str = "",
    references: Sequence[str] = (),
    automatic: bool = True,
    urgent: bool = False,
    confidential: bool = False,
) -> Message | None:
    """Put a mail into the outbox; the fields are those of `Message`. Return None if nothing is to be sent: a mail with this key exists
    already, or the reader has switched such notices off. Raises Problem when `to` is not an address.

    automatic: the portal wrote it, not a person, so that other systems do not answer it (RFC 3834). references: Message-IDs, oldest first.
    """
    require_known_kind(notice)
    if notice and unsubscribing.is_notice_off(to, notice):
        return None
    link = unsubscribing.build_unsubscribe_link(to, notice) if notice else ""
    words = render_mail(template, language, {**context, "switch_off": link})
    return put_in_outbox(
        Message(
            to=to, language=language, template=template, notice=notice, urgent=urgent, confidential=confidential, automatic=automatic,
            subject=words.subject[:250], text=words.text, html=words.html, sender=settings.DEFAULT_FROM_EMAIL, reply_to=reply_to,
            in_reply_to=in_reply_to, references=" ".join(references), unsubscribe=link, key=key,
            about_type=about._meta.label_lower if about else "", about_id=about.pk if about else None,
        )
    )  # fmt: skip


def require_known_kind(notice: str) -> None:
    """Raise ValueError for a kind of notice that no app registered."""
    if notice and notice_kinds.find_label(notice) is None:
        raise ValueError(f"Unknown kind of notice {notice!r}. Register it with notice_kinds.register_kind().")


def is_address(text: str) -> bool:
    """True if a mail can be written to this address."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def prepare_row(row: Message) -> None:
    """Check the address, and give the row its Message-ID and time."""
    if not is_address(row.to):
        raise Problem(_("%(address)s is not an e-mail address.") % {"address": row.to}, "to")
    row.message_id = f"<{uuid4()}@{parseaddr(row.sender)[1].rpartition('@')[2] or 'localhost'}>"
    row.written = row.due = timezone.now()


def put_in_outbox(row: Message) -> Message | None:
    """Check the address, give the row its Message-ID and time, and save it. Return None if a mail with its key exists already."""
    prepare_row(row)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        if row.key is None or not Message.objects.filter(key=row.key).exists():
            raise
        return None
    enqueue_sending()
    return row


def enqueue_sending() -> None:
    """Enqueue the sending task after the commit, once per transaction however many mails it wrote."""
    if not any(found[1] is _send_task for found in connection.run_on_commit):
        transaction.on_commit(_send_task, robust=True)


def _send_task() -> None:
    send_task(TASK)


def build_being_sent_filter(now: datetime) -> Q:
    """Return the filter for mails that a worker is sending at this moment."""
    return Q(state=Message.State.WAITING, claimed_until__gt=now)


def retry_mail(*, message: Message, by: User) -> None:
    """Make a mail due now. Raises Conflict when it is being sent, was sent, or was erased; Problem when its reader has switched such
    notices off.
    """
    if message.notice and unsubscribing.is_notice_off(message.to, message.notice):
        raise Problem(_("%(address)s has switched such mails off.") % {"address": message.to})
    with transaction.atomic():
        there = (
            Message.objects.filter(pk=message.pk, erased=None)
            .exclude(state=Message.State.SENT)
            .exclude(build_being_sent_filter(timezone.now()))
        )
        fresh = {"state": Message.State.WAITING, "ended": None, "ended_by": None, "reason": "", "claimed_until": None}
        if not there.update(due=timezone.now(), **fresh):
            raise Conflict(_("This mail is being sent, was sent meanwhile, or its content was erased."))
        enqueue_sending()
    log.info("mail tried again", message=message.pk, by=by.username)


def discard_mail(*, message: Message, reason: str, by: User) -> None:
    """Discard a mail that is not sent yet. Raises Problem without a reason, Conflict when it is being sent, was sent or was discarded."""
    why = reason.replace("\0", "").strip()
    if not why:
        raise Problem(_("Enter a reason; it is shown with the mail."), "reason")
    there = Message.objects.filter(pk=message.pk, state__in=[Message.State.WAITING, Message.State.FAILED]).exclude(
        build_being_sent_filter(timezone.now())
    )
    ended = {"ended": Now(), "ended_by": by, "reason": why[:200]}
    if not there.update(state=Message.State.DISCARDED, claimed_until=None, **ended):
        raise Conflict(_("This mail is being sent, or was sent or discarded meanwhile."))


def discard_waiting_mails(*, mails: QuerySet[Message], reason: str, by: User) -> int:
    """Discard those of these mails that wait and are not being sent at this moment. Return how many."""
    waiting = mails.filter(state=Message.State.WAITING).exclude(build_being_sent_filter(timezone.now()))
    ended = {"ended": Now(), "ended_by": by, "reason": reason[:200]}
    return waiting.update(state=Message.State.DISCARDED, claimed_until=None, **ended)


def switch_notice_off(*, address: str, notice: str) -> None:
    """Send no more notices of this kind to this address, and discard those that wait. Idempotent."""
    waiting = Message.objects.filter(to__iexact=address, notice=notice, state=Message.State.WAITING)
    with transaction.atomic():
        SwitchedOff.objects.bulk_create([SwitchedOff(address=address, notice=notice)], ignore_conflicts=True)
        waiting.exclude(build_being_sent_filter(timezone.now())).update(
            state=Message.State.DISCARDED, ended=Now(), reason="switched off by its reader"
        )


def switch_notice_on(*, address: str, notice: str) -> None:
    """Send notices of this kind to this address again. Idempotent."""
    SwitchedOff.objects.filter(address__iexact=address, notice=notice).delete()
