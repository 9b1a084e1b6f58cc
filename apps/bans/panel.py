"""What the page of a ban list shows: its bans with their hits and gateways, what was just done, and who else bans what was searched."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Max, OuterRef, QuerySet, Subquery, Sum
from django.utils import timezone

from apps.bans.coverage import allowed_parts, overruled
from apps.bans.forms import BanForm
from apps.bans.models import AllowEntry, Ban, BanHits, BanList, Direction
from apps.bans.prefixes import NoBan, read
from apps.bans.selectors import Hits, ListInBrief, bans_of, covering, feed_of, hits_of, in_brief
from apps.bans.undo import lifted_in
from apps.lib.activation import Activation, activations
from apps.lib.fields import Prefix
from apps.lib.ui.states import On, Post
from apps.lib.web.paginators import Pages

PER_PAGE = 50
SORTS = {
    "prefix": "prefix",
    "created": "created",
    "way": "direction",
    "expires": "expires",
    "comment": "comment",
    "hits": "hits",
    "last": "last_hit",
}


@dataclass(frozen=True)
class Row:
    """A ban, what it kept out, and how it stands on each gateway."""

    ban: Ban
    hits: Hits
    gateways: list[Activation]
    listed: bool  # its list is on
    ended: bool
    allowed: AllowEntry | None = None  # by which it has no effect

    @property
    def posts(self) -> list[Post]:
        there = On.FULL if self.listed and not self.ended else On.HOLLOW
        return [Post(each.gateway, there if each.since else On.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have it as it is yet."""
        return [each.gateway for each in self.gateways if not each.since]

    @property
    def names(self) -> str:
        return ", ".join(each.gateway for each in self.gateways)

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation; None while one is missing."""
        times = [each.since for each in self.gateways if each.since]
        return None if self.waits_for or not times else max(0.0, (max(times) - self.ban.changed_at).total_seconds())


def rows(bans: Iterable[Ban], banlist: BanList) -> list[Row]:
    """The bans of one list as rows: four queries, however many there are."""
    now, shown = timezone.now(), list(bans)
    hits, without_effect = hits_of(shown), overruled(shown)
    [(_, of_list)] = activations([banlist])
    return [
        Row(
            ban,
            hits.get(ban.prefix, Hits()),
            _later(known, of_list),
            banlist.enabled,
            ban.expires is not None and ban.expires <= now,
            without_effect.get(ban.prefix),
        )
        for ban, known in activations(shown)
    ]


def _later(of_ban: list[Activation], of_list: list[Activation]) -> list[Activation]:
    """A gateway has a ban as it stands since it has both: the ban, and its list as switched on or off."""
    switched = {each.gateway: each.since for each in of_list}
    return [_with(each, switched.get(each.gateway)) for each in of_ban]


def _with(ban: Activation, switched: datetime | None) -> Activation:
    return Activation(ban.gateway, max(ban.since, switched) if ban.since and switched else None)


def context(banlist: BanList, asked: Any, form: BanForm | None = None) -> dict[str, Any]:
    """What the page and its table need. asked: the query parameters (q, way, sort, page, saved, lifted, prefix)."""
    search, sort = asked.get("q", "").strip(), asked.get("sort", "prefix")
    way = asked.get("way", "") if asked.get("way") in Direction else ""
    stored = banlist.bans.count()
    pages = Pages(ordered(bans_of(banlist, search, way), sort), PER_PAGE, count=None if search or way else stored)
    page = pages.get_page(asked.get("page"))
    shown = rows(page, banlist)
    prefix = prefix_of(search)
    return {
        "list": banlist,
        "brief": in_brief(banlist, stored),
        "feed": feed_of(banlist),
        "page": page,
        "rows": shown,
        "search": search,
        "sort": sort,
        "way": way,
        "ways": Direction.choices,
        "prefix": Ban(prefix=prefix).shown if prefix else "",
        "elsewhere": elsewhere(banlist, prefix) if prefix and not shown else [],
        "form": form or BanForm(initial={"address": asked.get("prefix", "")}),
        **done(banlist, asked),
    }


def done(banlist: BanList, asked: Any) -> dict[str, Any]:
    """What was just done, as the address says: a ban saved, or a request that lifted some."""
    saved = Ban.objects.filter(list=banlist, pk=number(asked, "saved")).first() if "saved" in asked else None
    request = request_of(asked.get("lifted", ""))
    return {
        "saved": rows([saved], banlist)[0] if saved else None,
        "covered": elsewhere(banlist, saved.prefix) if saved else [],
        "parts_allowed": allowed_parts(saved.prefix)[:5] if saved else [],
        "lifted": lifted_in(banlist, request).count() if request else 0,
        "lifted_in": request,
        "restored": number(asked, "restored"),
        "ends_set": number(asked, "ends"),
        "ways_set": number(asked, "ways"),
    }


def ordered(bans: QuerySet[Ban], sort: str) -> QuerySet[Ban]:
    """By one column of the table, up or down (`-hits`); bans without a value come last."""
    column = SORTS.get(sort.removeprefix("-"), "prefix")
    of_prefix = BanHits.objects.filter(prefix=OuterRef("prefix")).values("prefix").order_by()
    if column == "hits":
        bans = bans.annotate(hits=Subquery(of_prefix.annotate(all=Sum("packets")).values("all")))
    if column == "last_hit":
        bans = bans.annotate(last_hit=Subquery(of_prefix.annotate(last=Max("last_hit")).values("last")))
    by = F(column).desc(nulls_last=True) if sort.startswith("-") else F(column).asc(nulls_last=True)
    return bans.order_by(by, "prefix", "id")


def elsewhere(banlist: BanList, prefix: Prefix) -> list[Ban]:
    """Bans on other lists that keep out all of the prefix too."""
    return list(covering(prefix).exclude(list=banlist)[:5])


def prefix_of(search: str) -> Prefix | None:
    """The prefix, where the search is one."""
    try:
        return read(search)
    except NoBan:
        return None


def number(asked: Any, name: str) -> int:
    """A number in the address; 0 where there is none."""
    text = asked.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def request_of(text: str) -> UUID | None:
    """The id of a request in the address."""
    try:
        return UUID(text)
    except ValueError:
        return None


_LIST_SORTS: dict[str, Callable[[ListInBrief], Any]] = {
    "name": lambda brief: brief.list.name.casefold(),
    "bans": lambda brief: brief.bans,
    "hits": lambda brief: brief.hits.packets,
    "last": lambda brief: brief.hits.last.timestamp() if brief.hits.last else 0.0,
}


def sorted_lists(shown: Iterable[ListInBrief], sort: str) -> list[ListInBrief]:
    """Ban lists by one column of their table."""
    by = _LIST_SORTS.get(sort.removeprefix("-"), _LIST_SORTS["name"])
    return sorted(shown, key=by, reverse=sort.startswith("-"))
