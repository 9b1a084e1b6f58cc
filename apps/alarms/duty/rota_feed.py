"""The rota as an iCalendar feed (RFC 5545), to which people subscribe by a secret link of their own."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.accounts.roles import Right
from apps.alarms.duty.models import DutyFeed
from apps.alarms.duty.selectors import RotaTurn, read_rota
from apps.preferences.declarations import NETWORK_NAME
from apps.preferences.selectors import read_setting

if TYPE_CHECKING:
    from icalendar import Event

BEHIND, AHEAD = timedelta(days=30), timedelta(days=90)
_signer: Final = Signer(salt="alarms.duty.feed")


def build_feed_url(user: User) -> str:
    """Return the secret address of the account's feed; "" if it has none yet."""
    row = DutyFeed.objects.filter(user=user).first()
    return settings.PORTAL_URL + reverse("alarms:duty-feed", args=[_signer.sign(f"{row.user_id}.{row.serial}")]) if row else ""


def renew_feed(*, user: User) -> None:
    """Make a link for the account. An older one leads nowhere any more."""
    with transaction.atomic():
        _row, made = DutyFeed.objects.get_or_create(user=user)
        if not made:
            DutyFeed.objects.filter(user=user).update(serial=F("serial") + 1)


def find_subscriber(token: str) -> User | None:
    """Return whose link this is; None if it is wrong or replaced, or its owner may not see the rota any more."""
    try:
        user, _dot, serial = _signer.unsign(token).partition(".")
    except BadSignature:
        return None
    row = DutyFeed.objects.filter(user=int(user), serial=int(serial)).select_related("user").first()
    owner: User | None = row.user if row else None
    return owner if owner and owner.is_active and has_right(owner, Right.SEE_NETWORK) else None


def write_rota_feed(now: datetime) -> bytes:
    """Return the turns from a month ago until in three months; gaps are not in it."""
    from icalendar import Calendar  # here, because it takes 3 MiB of each process that serves pages

    calendar = Calendar()
    title = _("%(network)s: on duty") % {"network": read_setting(NETWORK_NAME)}
    for name, value in (("prodid", "-//Netzwart//duty//"), ("version", "2.0"), ("x-wr-calname", title)):
        calendar.add(name, value)
    for turn in read_rota(now - BEHIND, now + AHEAD).turns:
        if turn.shift and turn.person:
            calendar.add_component(_build_event(turn, turn.person, now))
    return bytes(calendar.to_ical())


def _build_event(turn: RotaTurn, person: User, now: datetime) -> "Event":
    from icalendar import Event

    event = Event()
    begins = turn.begins.astimezone(UTC)
    shift = turn.shift.pk if turn.shift else 0
    event.add("uid", f"duty-{shift}-{begins:%Y%m%dT%H%M%SZ}@{settings.PORTAL_URL.partition('://')[2].partition('/')[0]}")
    event.add("dtstamp", now.astimezone(UTC))
    event.add("dtstart", begins)
    event.add("dtend", turn.ends.astimezone(UTC))
    event.add("summary", _("On duty: %(who)s") % {"who": person.name})
    event.add("url", f"{settings.PORTAL_URL}{reverse('alarms:duty')}")
    return event
