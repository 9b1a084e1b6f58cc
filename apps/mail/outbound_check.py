"""Check of outgoing mail by a test mail to a person's own address: whether the mail server took it, or what it answered."""

from dataclasses import dataclass
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.lib.ui import formats
from apps.mail import circuit_breaker
from apps.mail.models import Message
from apps.mail.services import write_mail

TEMPLATE: Final = "test_mail"


@dataclass(frozen=True, slots=True)
class OutboundCheck:
    """Outcome of the last test mail, as a sentence. taken: the server took it."""

    taken: bool
    words: str


def send_test_mail(*, by: User) -> Message:
    """Write a test mail to the account's own address. Raises Problem without an address, Conflict while an earlier test mail waits."""
    if not by.email:
        raise Problem(_("Your account has no mail address. Enter one, then send the test mail."))
    waiting = Message.objects.filter(template=TEMPLATE, state=Message.State.WAITING).order_by("-id").first()
    if waiting:
        text = _("The test mail of %(time)s still waits. Its answer appears here.")
        raise Conflict(text % {"time": formats.format_moment(waiting.written, timezone.now())})
    sent = write_mail(to=by.email, language=by.mail_language, template=TEMPLATE, context={"name": by.name}, urgent=True)
    if sent is None:
        raise AssertionError("a mail without a key and a kind is always written")
    return sent


def find_outbound_check() -> OutboundCheck | None:
    """Return what became of the last test mail; None if there was none."""
    last = Message.objects.filter(template=TEMPLATE).order_by("-id").first()
    return OutboundCheck(last.state == Message.State.SENT, _describe_result(last)) if last else None


def _describe_result(mail: Message) -> str:
    now, away = timezone.now(), circuit_breaker.find_mail_server_outage()
    given = {"address": mail.to, "time": formats.format_moment(mail.ended or mail.written, now)}
    match mail.state:
        case Message.State.SENT:
            return _("The mail server took the test mail to %(address)s at %(time)s.") % given
        case Message.State.FAILED:
            return _("The mail server refused the test mail to %(address)s: %(answer)s") % (given | {"answer": mail.error})
        case Message.State.DISCARDED:
            return _("The test mail to %(address)s was discarded.") % given
    if away or mail.error:
        words = _("The test mail to %(address)s waits. The mail server says: %(answer)s")
        return words % (given | {"answer": away.error if away else mail.error})
    return _("The test mail to %(address)s waits for a worker since %(time)s.") % given
