"""Erases the content of taken mails some days later: the mail handler keeps what it needs. Quarantined mail stays until people decide."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import BinaryField, F, Func, IntegerField, Q, Value
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from apps.inbound_mail.models import Arrival
from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii


def erase_old_octets(before: datetime, at_most: int) -> int:
    """Erase the octets of up to `at_most` mails that were taken before `before`, the oldest first. Return how many."""
    old = Arrival.objects.filter(state=Arrival.State.TAKEN, ended__lt=before, octets__isnull=False).order_by("ended").values("pk")
    return Arrival.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:at_most])).update(octets=None)


def erase_mails_of_addresses(addresses: Iterable[str]) -> None:
    """Erase octets and envelope of mails that came from these addresses or contain them. Their times, sizes and digests stay.

    Waiting mails are not changed, because they are new. An address that a mail encodes is not found in it: such octets are erased with
    all others of taken mails, and stay in quarantine until people delete them.
    """
    found = Arrival.objects.filter(pk__in=_find_mails_of_addresses([each for each in addresses if each]))
    gone: dict[str, Any] = {"sender": None, "recipients": [], "octets": None, "message_id": "", "detail": ""}
    found.filter(state=Arrival.State.QUARANTINED).update(state=Arrival.State.DELETED, ended=Now(), **gone)
    found.exclude(state=Arrival.State.WAITING).update(**gone)


def _find_mails_of_addresses(addresses: Sequence[str]) -> list[int]:
    """Return the ids of mails that came from these addresses or contain them, as written or in small letters: all octets are read once."""
    small = [lower_ascii(each) for each in addresses]
    told = Q(by__in=small)
    for each in sorted({*addresses, *small}):
        told |= _build_address_filter(each)
    return list(Arrival.objects.alias(by=AsciiLower("sender")).filter(told).order_by().values_list("pk", flat=True))


def _build_address_filter(address: str) -> Q:
    """Return the filter for arrivals that contain the address literally."""
    at = Func(Value(address.encode(), BinaryField()), F("octets"), function="POSITION", arg_joiner=" IN ", output_field=IntegerField())
    return Q(GreaterThan(at, 0))
