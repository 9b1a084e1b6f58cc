"""What was taken is erased here some days later: whoever took it keeps what it needs. What is in quarantine stays until somebody looks."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import BinaryField, F, Func, IntegerField, Q, Value
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan

from apps.inbound.models import Arrival
from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii


def erase_some(before: datetime, at_most: int) -> int:
    """Erase the octets of up to so many mails that were taken before, the oldest first; how many."""
    old = Arrival.objects.filter(state=Arrival.State.TAKEN, ended__lt=before, octets__isnull=False).order_by("ended").values("pk")
    return Arrival.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:at_most])).update(octets=None)


def forget_addresses(addresses: Iterable[str]) -> None:
    """Erase what came from these addresses, or names them: octets and envelope. That something came, when, and its digest stay.

    What waits to be read is left: it is new. Not found is an address that a mail encodes; such octets go after their days.
    """
    for address in filter(None, addresses):
        small = lower_ascii(address)
        sent = Arrival.objects.alias(by=AsciiLower("sender")).filter(
            Q(by=small) | _build_address_filter(address) | _build_address_filter(small)
        )
        gone: dict[str, Any] = {"sender": None, "recipients": [], "octets": None, "message_id": "", "detail": ""}
        sent.filter(state=Arrival.State.QUARANTINED).update(state=Arrival.State.DELETED, ended=Now(), **gone)
        sent.exclude(state=Arrival.State.WAITING).update(**gone)


def _build_address_filter(address: str) -> Q:
    """Arrivals in whose octets the address stands as it is."""
    at = Func(Value(address.encode(), BinaryField()), F("octets"), function="POSITION", arg_joiner=" IN ", output_field=IntegerField())
    return Q(GreaterThan(at, 0))
