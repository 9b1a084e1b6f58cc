"""Mails to members who have nearly or wholly used up their quota: one for each threshold and calendar month, in the member's language.

One query finds them, however many members there are. The outbox (`Message.key`) remembers which mails were written.
"""

from datetime import datetime
from itertools import batched
from typing import Final

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from apps.lib.email_address import lower_ascii
from apps.mail.mail_templates import PlainValue
from apps.mail.models import Message, SwitchedOff
from apps.mail.services import write_mail
from apps.members.models import Member
from apps.traffic.quotas import NEAR, MemberNearQuota, compute_month_bounds, list_members_above

KIND: Final = "quota"
MAX_MAILS_PER_RUN: Final = 500  # mails of one run; the next run continues
TOGETHER: Final = 100  # mails of one transaction, so that a worker is woken once for all of them


def send_notices(now: datetime) -> int:
    """Write to the members who passed a threshold and have no mail about it yet. Return the number of mails. Idempotent."""
    found = {_build_key(each, now): each for each in list_members_above(NEAR, now=now)}
    told = set(Message.objects.filter(key__in=list(found)).values_list("key", flat=True))
    readers = _map_readers([each.member for key, each in found.items() if key not in told])
    due = [(key, each) for key, each in found.items() if key not in told and each.member in readers]
    return sum(
        _send_batch([(readers[each.member], each, key) for key, each in some], now) for some in batched(due[:MAX_MAILS_PER_RUN], TOGETHER)
    )


@transaction.atomic
def _send_batch(due: list[tuple[Member, MemberNearQuota, str]], now: datetime) -> int:
    return sum(_write_notice(reader, of, key, now) for reader, of, key in due)


def _map_readers(members: list[int]) -> dict[int, Member]:
    """Return, by id, those of these members who are active, have an email address and did not switch these mails off."""
    unwilling = {lower_ascii(address) for address in SwitchedOff.objects.filter(notice=KIND).values_list("address", flat=True)}
    active = Member.objects.filter(pk__in=members, state=Member.State.ACTIVE).exclude(email="")
    return {each.pk: each for each in active if lower_ascii(each.email) not in unwilling}


def _build_key(of: MemberNearQuota, now: datetime) -> str:
    return f"quota {of.member} {compute_month_bounds(now)[0]:%Y-%m} {100 if of.percent >= 100 else NEAR}"


def _write_notice(reader: Member, of: MemberNearQuota, key: str, now: datetime) -> bool:
    since, until = (moment.date() for moment in compute_month_bounds(now))
    shown: dict[str, PlainValue] = {"name": reader.name, "share": of.percent, "used": of.total, "quota": of.quota, "tariff": of.tariff}
    context: dict[str, PlainValue] = {
        **shown,
        "since": since,
        "until": until,
        "at": now,
        "url": f"{settings.PORTAL_URL}{reverse('own:home')}",
    }
    return bool(write_mail(to=reader.email, language=reader.language, template=KIND, context=context, about=reader, key=key, notice=KIND))
