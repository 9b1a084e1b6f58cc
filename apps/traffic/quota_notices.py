"""Mails to members whose quota is nearly or wholly used up: one for each threshold and calendar month, in the member's language.

Who that is takes one question to the database, however many members there are; who was told is what the outbox knows (`Message.key`).
"""

from datetime import datetime
from itertools import batched
from typing import Final

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from apps.lib.email_address import ascii_lower
from apps.mail.mail_templates import Plain
from apps.mail.models import Message, SwitchedOff
from apps.mail.services import write
from apps.members.models import Member
from apps.traffic.quotas import NEAR, Above, above, month

KIND: Final = "quota"
MOST: Final = 500  # mails of one run; the next one goes on
TOGETHER: Final = 100  # in one transaction, so that a worker is woken once for all of them


def tell(now: datetime) -> int:
    """Write to whoever passed a threshold and was not told; how many mails were written. Doing it again is harmless."""
    found = {_key(each, now): each for each in above(NEAR, now=now)}
    told = set(Message.objects.filter(key__in=list(found)).values_list("key", flat=True))
    readers = _readers([each.member for key, each in found.items() if key not in told])
    due = [(key, each) for key, each in found.items() if key not in told and each.member in readers]
    return sum(_together([(readers[each.member], each, key) for key, each in some], now) for some in batched(due[:MOST], TOGETHER))


@transaction.atomic
def _together(due: list[tuple[Member, Above, str]], now: datetime) -> int:
    return sum(_write(reader, of, key, now) for reader, of, key in due)


def _readers(members: list[int]) -> dict[int, Member]:
    """Those of them who are active, have an address and want to know."""
    unwilling = {ascii_lower(address) for address in SwitchedOff.objects.filter(notice=KIND).values_list("address", flat=True)}
    active = Member.objects.filter(pk__in=members, state=Member.State.ACTIVE).exclude(email="")
    return {each.pk: each for each in active if ascii_lower(each.email) not in unwilling}


def _key(of: Above, now: datetime) -> str:
    return f"quota {of.member} {month(now)[0]:%Y-%m} {100 if of.percent >= 100 else NEAR}"


def _write(reader: Member, of: Above, key: str, now: datetime) -> bool:
    since, until = (moment.date() for moment in month(now))
    shown: dict[str, Plain] = {"name": reader.name, "share": of.percent, "used": of.both, "quota": of.quota, "tariff": of.tariff}
    context: dict[str, Plain] = {**shown, "since": since, "until": until, "at": now, "url": f"{settings.PORTAL_URL}{reverse('own:home')}"}
    return bool(write(to=reader.email, language=reader.language, template=KIND, context=context, about=reader, key=key, notice=KIND))
