"""The need that bans end soon, and how many of them are still hit."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Min, QuerySet
from django.db.models.functions import Now
from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.bans.models import Ban, BanHits
from apps.desk.needs.need import AttentionItem
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.request_cache import cache_per_request

SOON: Final = timedelta(hours=24)
JUST_HIT: Final = timedelta(hours=1)


@dataclass(frozen=True)
class EndingBans:
    """Bans that end soon: how many, when the first does, and how many of their prefixes were hit within the last hour."""

    number: int
    first: datetime | None
    hit: int


def iter_attention_items(now: datetime) -> Iterator[AttentionItem]:
    """Yield one need for all bans that end soon."""
    if not any(first is not None and first <= now + SOON for first in _list_next_ends()):
        return
    found = _count_ending_bans()
    if found.number:
        number = formats.format_number(found.number)
        state = StateLabel(StateKind.PLAIN, _("Expiring"), "clock")
        what = ngettext("%(n)s ban ends within 24 h", "%(n)s bans end within 24 h", found.number) % {"n": number}
        page = resolve_url("bans:lists")
        yield AttentionItem("bans", state, what, _describe_hits(found.hit), found.first, _("Review"), page)


@read_with_frame
def _list_next_ends() -> QuerySet[Ban, datetime | None]:
    """Return when the next ban ends: the index finds it, however many bans there are."""
    return Ban.objects.filter(expires__gt=Now(), list__enabled=True).order_by("expires").values_list("expires", flat=True)[:1]


@cache_per_request
def _count_ending_bans() -> EndingBans:
    ending = Ban.objects.filter(expires__gt=Now(), expires__lte=Now() + SOON, list__enabled=True)
    facts = ending.aggregate(number=Count("pk"), first=Min("expires"))
    hit = BanHits.objects.filter(prefix__in=ending.values("prefix"), last_hit__gt=Now() - JUST_HIT)
    return EndingBans(facts["number"], facts["first"], hit.values("prefix").distinct().count() if facts["number"] else 0)


def _describe_hits(number: int) -> str:
    if not number:
        return _("none of them was hit in the last hour")
    words = ngettext("%(n)s of them was hit in the last hour", "%(n)s of them were hit in the last hour", number)
    return words % {"n": formats.format_number(number)}
