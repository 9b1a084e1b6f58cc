"""Members as uses of a room: it is not removed while somebody lives there."""

from collections.abc import Collection
from typing import Any

from django.urls import reverse
from django.utils.translation import ngettext

from apps.lib.row_uses import RowUse
from apps.lib.ui import formats
from apps.members.models import Member


def find_resident_use(rooms: Collection[int]) -> RowUse | None:
    """Return the members who live in these rooms; None if there is none."""
    living = Member.objects.filter(room__in=rooms).select_related("room__site").order_by("name", "pk")
    number, first = living.count(), living.first()
    if first is None:
        return None
    words = ngettext("%(number)s member", "%(number)s members", number) % {"number": formats.format_number(number)}
    one = reverse("desk:member", args=[first.pk])
    return RowUse(words, one if number == 1 else f"{reverse('desk:members')}?view=all&house={_get_site(first).code}", first)


def _get_site(member: Member) -> Any:
    return member.room.site if member.room else None
