"""Registry of what uses a room: the members who live there, and what other apps register. A room that is used is not removed."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils.translation import ngettext

from apps.lib.ui import formats
from apps.members.models import Member


@dataclass(frozen=True, slots=True)
class RoomUse:
    """A kind of use. words: “2 members”; url: page that lists them, or the first; first: one of the rows."""

    words: str
    url: str
    first: Model


type FindRoomUse = Callable[[Collection[int]], RoomUse | None]


def _find_residents(rooms: Collection[int]) -> RoomUse | None:
    living = Member.objects.filter(room__in=rooms).select_related("room__site").order_by("name", "pk")
    number, first = living.count(), living.first()
    if first is None:
        return None
    words = ngettext("%(number)s member", "%(number)s members", number) % {"number": formats.format_number(number)}
    one = reverse("desk:member", args=[first.pk])
    return RoomUse(words, one if number == 1 else f"{reverse('desk:members')}?view=all&house={_get_site(first).code}", first)


def _get_site(member: Member) -> Any:
    return member.room.site if member.room else None


_finders: list[FindRoomUse] = [_find_residents]


def register_room_use(find: FindRoomUse) -> None:
    """Register another use of rooms; `find` takes ids of rooms. Called once, when the app is ready."""
    _finders.append(find)


def list_room_uses(rooms: Collection[int]) -> list[RoomUse]:
    """Return the uses of these rooms; empty if they can be removed."""
    return [use for find in _finders if (use := find(rooms))]
