"""What was taken is erased here some days later: whoever took it keeps what it needs. What is in quarantine stays until somebody looks."""

from datetime import datetime

from apps.inbound.models import Arrival


def erase_some(before: datetime, at_most: int) -> int:
    """Erase the octets of up to so many mails that were taken before, the oldest first; how many."""
    old = Arrival.objects.filter(state=Arrival.State.TAKEN, ended__lt=before, octets__isnull=False).order_by("ended").values("pk")
    return Arrival.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:at_most])).update(octets=None)
