"""Moves and NAT mappings as uses of rooms and pools: these are not removed while one refers to them."""

from collections.abc import Collection

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import ngettext

from apps.lib.row_uses import RowUse
from apps.lib.ui.formats import format_number
from apps.nat.count_texts import format_mapping_count
from apps.nat.models import NatMapping
from apps.nat.moving.models import Move


def find_room_move_use(rooms: Collection[int]) -> RowUse | None:
    """Return the planned moves to these rooms; None if there is none. Moves that are over do not hold a room."""
    return _describe_moves(Move.objects.filter(room__in=rooms, state=Move.State.PLANNED))


def find_pool_move_use(pools: Collection[int]) -> RowUse | None:
    """Return the moves to addresses of these pools, also those that are over: they keep the pool's name; None if there is none."""
    return _describe_moves(Move.objects.filter(pool__in=pools))


def find_pool_mapping_use(pools: Collection[int]) -> RowUse | None:
    """Return the NAT mappings that members have or had to these pools; None if there is none."""
    found = NatMapping.objects.filter(pool__in=pools)
    first = found.select_related("holding").order_by("pk").first()
    if first is None:
        return None
    return RowUse(format_mapping_count(found.count()), reverse("desk:member", args=[first.holding.member_id]), first)


def _describe_moves(found: QuerySet[Move]) -> RowUse | None:
    first = found.select_related("member").order_by("on", "pk").first()
    if first is None:
        return None
    number = found.count()
    words = ngettext("%(number)s planned move", "%(number)s planned moves", number) % {"number": format_number(number)}
    return RowUse(words, reverse("desk:member", args=[first.member_id]), first.member)
