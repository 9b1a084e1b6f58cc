"""Erases the content of mails some days after they ended. When and to whom they were sent stays until the recipient's data is erased."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now

from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii
from apps.mail.models import Message, SwitchedOff


def erase_old_mail_content(before: datetime, at_most: int) -> int:
    """Erase the content of up to `at_most` mails that ended before `before`, the oldest first. Return how many."""
    with transaction.atomic():
        old = Message.objects.filter(ended__lt=before, erased=None).order_by("ended").values("pk")[:at_most]
        return Message.objects.filter(pk__in=list(old.values_list("pk", flat=True))).update(text="", html="", erased=Now())


def list_mails_about(about: Model, addresses: Iterable[str]) -> QuerySet[Message]:
    """Return all mails about this row or to one of these addresses, the oldest first."""
    told = Q(about_type=about._meta.label_lower, about_id=about.pk)
    return Message.objects.alias(address=AsciiLower("to")).filter(told | Q(address__in=_lower_addresses(addresses))).order_by("pk")


def erase_mails(mails: QuerySet[Message], *, instead: str) -> None:
    """Erase recipient, content and server replies of these mails; `instead` replaces the recipient. Waiting mails are deleted unsent."""
    mails.filter(state=Message.State.WAITING).delete()
    mails.update(to=instead, text="", html="", reply_to="", in_reply_to="", references="", unsubscribe="", error="", erased=Now())


@transaction.atomic
def forget_mails(about: Model, addresses: Sequence[str], *, instead: str) -> None:
    """Erase recipient, content and server replies of the mails about this row or to these addresses; `instead` replaces the recipient.

    Waiting mails are deleted unsent. Mails to others that contain one of the addresses lose their subject and content, too. The
    addresses' switched-off notices are deleted.
    """
    erase_mails(list_mails_about(about, addresses), instead=instead)
    ended = Message.objects.exclude(state=Message.State.WAITING)
    for told in (ended.filter(_build_search("text", addresses), erased=None), ended.filter(_build_search("subject", addresses))):
        told.update(subject="–", text="", html="", erased=Now())
    SwitchedOff.objects.alias(reader=AsciiLower("address")).filter(reader__in=_lower_addresses(addresses)).delete()


def _build_search(column: str, addresses: Iterable[str]) -> Q:
    """Return the filter for mails that have one of these addresses in this column; none, if there are no addresses."""
    found = Q(pk__in=())
    for address in filter(None, addresses):
        found |= Q((f"{column}__icontains", address))
    return found


def _lower_addresses(addresses: Iterable[str]) -> list[str]:
    return [lower_ascii(each) for each in addresses if each]
