"""What mails said is erased some days after they ended; that, when and to whom they were sent stays."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Now

from apps.mail.models import Message

AT_ONCE = 5000


def erase(before: datetime) -> int:
    """Erase the words of mails that ended before; how many. In pieces, so that nobody waits for long."""
    erased = 0
    while found := _piece(before):
        erased += found
    return erased


def erase_old(now: datetime, days: int) -> int:
    return erase(now - timedelta(days=days))


def _piece(before: datetime) -> int:
    with transaction.atomic():
        old = Message.objects.filter(ended__lt=before, erased=None).order_by("ended").values("pk")[:AT_ONCE]
        return Message.objects.filter(pk__in=list(old.values_list("pk", flat=True))).update(text="", html="", erased=Now())
