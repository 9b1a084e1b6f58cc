"""A mail about alarms: to one reader about everything that began or is over, in the reader's language."""

from collections.abc import Sequence
from typing import Final

import structlog
from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from apps.accounts.models import User
from apps.accounts.roles import Right, list_roles_with_right
from apps.alarms.duty.selectors import OnDuty
from apps.alarms.models import Alarm
from apps.lib.email_address import lower_ascii
from apps.lib.errors import Problem
from apps.mail.mail_templates import PlainValue
from apps.mail.services import write_mail
from apps.mail.unsubscribing import list_unsubscribed_addresses

KIND: Final = "alarms"
log = structlog.get_logger()


def list_readers() -> list[User]:
    """Return the users who operate the network, have an email address and did not switch these mails off."""
    staff = list(User.objects.filter(is_active=True, roles__overlap=list_roles_with_right(Right.OPERATE)).exclude(email="").order_by("pk"))
    unwilling = list_unsubscribed_addresses([user.email for user in staff], KIND)
    return [user for user in staff if lower_ascii(user.email) not in unwilling]


def describe_duty(reader: User, on_duty: OnDuty | None, minutes: int) -> str:
    """Say in the reader's language why the reader is told: on duty, or because the person on duty has not seen it; "" without a rota."""
    if on_duty is None:
        return ""
    with override(reader.mail_language):
        if on_duty.person == reader:
            words = ngettext(
                "You are on duty. The others are told if nobody presses “Seen” within %(n)d minute.",
                "You are on duty. The others are told if nobody presses “Seen” within %(n)d minutes.",
                minutes,
            )
            return words % {"n": minutes}
        return _("%(who)s is on duty, and is not reached or has not pressed “Seen”.") % {"who": on_duty.person.name}


def write_notice(user: User, begun: Sequence[Alarm], over: Sequence[Alarm], duty: str = "") -> bool:
    """Put the mail into the outbox. duty: a sentence that says why this reader is told. Return False if the reader's address is wrong."""
    with override(user.mail_language):
        context: dict[str, PlainValue] = {
            "begun": [_describe_alarm(each) for each in begun],
            "over": [_describe_alarm(each) for each in over],
            "first": (begun or over)[0].title,
            "more": len(begun or over) - 1,
            "url": f"{settings.PORTAL_URL}{reverse('alarms:list')}",
            "duty": duty,
        }
    try:
        mail = write_mail(to=user.email, language=user.mail_language, template="alarms", context=context, notice=KIND, urgent=True)
    except Problem as problem:
        log.warning("alarm not mailed", user=user.username, why=str(problem))
        return False
    return mail is not None


def _describe_alarm(alarm: Alarm) -> dict[str, PlainValue]:
    return {
        "title": alarm.title,
        "evidence": alarm.evidence,
        "began": alarm.began,
        "gone": alarm.gone,
        "url": f"{settings.PORTAL_URL}{alarm.path}" if alarm.path else "",
    }
