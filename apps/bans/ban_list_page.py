"""Contents of a ban list's page: bans with hits and gateways, the result of the last action, and bans on other lists that match the
search.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import F, Max, OuterRef, QuerySet, Subquery, Sum
from django.urls import reverse
from django.utils import timezone

from apps.bans.coverage import list_allow_entries_within, map_overruling_entries
from apps.bans.forms import BanForm
from apps.bans.models import AllowEntry, Ban, BanHits, BanList, Direction
from apps.bans.prefixes import UnbannablePrefix, parse_ban_prefix
from apps.bans.selectors import BanListSummary, Hits, count_bans, find_feed, list_bans, list_covering_bans, map_hits, summarize_list
from apps.bans.undo import list_lifted_bans
from apps.lib.activation import Activation, list_activations
from apps.lib.fields import Prefix
from apps.lib.models import Deployed
from apps.lib.ui.states import GatewaySymbol, SymbolState
from apps.lib.web.paginators import DeferredJoinPaginator
from apps.lib.web.query_params import parse_number

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
LIST_PARAMS: Final = ("q", "way", "sort", "page")
RESULT_PARAMS: Final = ("saved", "version", "lifted", "restored", "ends", "ways")


@dataclass(frozen=True)
class BanRow:
    """A ban, its hits, and its state on each gateway."""

    ban: Ban
    hits: Hits
    gateways: list[Activation]
    listed: bool  # its list is on
    ended: bool
    allowed: AllowEntry | None = None  # the allow entry that overrules it

    @property
    def posts(self) -> list[GatewaySymbol]:
        there = SymbolState.FULL if self.listed and not self.ended else SymbolState.HOLLOW
        return [GatewaySymbol(each.gateway, there if each.since else SymbolState.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """The gateways that do not have the ban's present version yet."""
        return [each.gateway for each in self.gateways if not each.since]

    @property
    def gateway_names(self) -> str:
        return ", ".join(each.gateway for each in self.gateways)

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation; None while one is missing."""
        times = [each.since for each in self.gateways if each.since]
        return None if self.waits_for or not times else max(0.0, (max(times) - self.ban.changed_at).total_seconds())


def build_ban_rows(bans: Iterable[Ban], banlist: BanList) -> list[BanRow]:
    """Return the bans of one list as rows, in four queries, whatever their number: hits, allow entries, activations and their reasons."""
    now, shown = timezone.now(), list(bans)
    hits, without_effect = map_hits(shown), map_overruling_entries(shown)
    asked: list[Deployed] = [banlist, *shown]
    [(_, of_list), *of_bans] = list_activations(asked)
    return [
        BanRow(
            ban,
            hits.get(ban.prefix, Hits()),
            _merge_activations(known, of_list),
            banlist.enabled,
            ban.expires is not None and ban.expires <= now,
            without_effect.get(ban.prefix),
        )
        for ban, (_, known) in zip(shown, of_bans, strict=True)
    ]


def _merge_activations(of_ban: list[Activation], of_list: list[Activation]) -> list[Activation]:
    """Merge both activations: a gateway has a ban in its present version since it has the ban, and its list as switched on or off."""
    switched = {each.gateway: each.since for each in of_list}
    return [_merge_activation(each, switched.get(each.gateway)) for each in of_ban]


def _merge_activation(ban: Activation, switched: datetime | None) -> Activation:
    return Activation(ban.gateway, max(ban.since, switched) if ban.since and switched else None)


def build_ban_list_context(banlist: BanList, asked: Any, form: BanForm | None = None) -> dict[str, Any]:
    """Return the context of the page and its table. asked: the query parameters (LIST_PARAMS, RESULT_PARAMS, prefix)."""
    feed = find_feed(banlist)  # before the bans: a refresh that ends in between is polled for then, not shown beside the bans of before it
    search, sort = asked.get("q", "").strip(), asked.get("sort", "prefix")
    way = asked.get("way", "") if asked.get("way") in Direction else ""
    stored = count_bans(banlist)
    bans = order_bans(list_bans(banlist, search, way), sort)
    pages = DeferredJoinPaginator(bans, PER_PAGE, count=None if search or way else stored, key="prefix")
    page = pages.get_page(asked.get("page"))
    shown = build_ban_rows(page, banlist)
    only_other_ways = bool(way) and not shown and list_bans(banlist, search).exists()
    prefix = parse_search_prefix(search)
    return {
        "list": banlist,
        "brief": summarize_list(banlist, stored),
        "feed": feed,
        "page": page,
        "rows": shown,
        "search": search,
        "sort": sort,
        "way": way,
        "ways": Direction.choices,
        "only_other_ways": only_other_ways,
        "prefix": Ban(prefix=prefix).prefix_text if prefix else "",
        "elsewhere": list_bans_elsewhere(banlist, prefix) if prefix and not shown and not only_other_ways else [],
        "form": form or BanForm(initial={"address": asked.get("prefix", "")}),
        "passing": (*RESULT_PARAMS, "prefix"),
        **build_action_result_context(banlist, asked),
    }


def build_list_query(asked: Any, **more: object) -> str:
    """Return the query string that leads to the same page of the same bans: "?q=ssh&sort=-hits", or "". more: further parameters.

    Actions carry it, so that the list is afterwards as it was before.
    """
    kept = {name: asked[name] for name in LIST_PARAMS if asked.get(name)} | more
    return f"?{urlencode(kept)}" if kept else ""


def _build_undo_url(saved: Ban, version: int, asked: Any) -> str:
    """Return the URL whose POST undoes what made the ban this version; "" if it was changed again since."""
    if saved.version != version:
        return ""
    if version == 1:
        return reverse("bans:lift", args=[saved.pk]) + build_list_query(asked)
    return reverse("bans:revert", args=[saved.pk]) + build_list_query(asked, version=version)


def build_action_result_context(banlist: BanList, asked: Any) -> dict[str, Any]:
    """Return the result of the last action, as the query parameters name it: a ban that was saved, or a request that lifted some.

    And the queries of what can be done next: `list_query` returns to the list as it is, `strip_query` asks for the result again. asked:
    also the version that was saved, without which nothing is offered to undo.
    """
    saved = Ban.objects.filter(list=banlist, pk=parse_number(asked, "saved")).first() if "saved" in asked else None
    request = parse_lift_request_id(asked.get("lifted", ""))
    version = parse_number(asked, "version")
    row = build_ban_rows([saved], banlist)[0] if saved else None
    return {
        "list_query": build_list_query(asked),
        "strip_query": build_list_query(asked, waits=",".join(row.waits_for), version=version) if row else "",
        "saved": row,
        "undo_saved": _build_undo_url(saved, version, asked) if saved else "",
        "covered": list_bans_elsewhere(banlist, saved.prefix) if saved else [],
        "parts_allowed": list_allow_entries_within(saved.prefix)[:5] if saved else [],
        "lifted": list_lifted_bans(banlist, request).count() if request else 0,
        "lifted_in": request,
        "restored": parse_number(asked, "restored"),
        "ends_set": parse_number(asked, "ends"),
        "ways_set": parse_number(asked, "ways"),
    }


def order_bans(bans: QuerySet[Ban], sort: str) -> QuerySet[Ban]:
    """Sort the bans of one list by one column of the table, ascending or descending (`-hits`); bans without a value come last."""
    column = SORTS.get(sort.removeprefix("-"), "prefix")
    of_prefix = BanHits.objects.filter(prefix=OuterRef("prefix")).values("prefix").order_by()
    if column == "hits":
        bans = bans.annotate(hits=Subquery(of_prefix.annotate(all=Sum("packets")).values("all")))
    if column == "last_hit":
        bans = bans.annotate(last_hit=Subquery(of_prefix.annotate(last=Max("last_hit")).values("last")))
    if column == "prefix":  # unique on a list and never NULL, so that the index on both gives the order
        return bans.order_by("-prefix" if sort.startswith("-") else "prefix")
    by = F(column).desc(nulls_last=True) if sort.startswith("-") else F(column).asc(nulls_last=True)
    return bans.order_by(by, "prefix")


def list_bans_elsewhere(banlist: BanList, prefix: Prefix) -> list[Ban]:
    """Return up to five bans on other lists that cover the whole prefix too."""
    return list(list_covering_bans(prefix).exclude(list=banlist)[:5])


def parse_search_prefix(search: str) -> Prefix | None:
    """Return the prefix if the search is one."""
    try:
        return parse_ban_prefix(search)
    except UnbannablePrefix:
        return None


def parse_lift_request_id(text: str) -> UUID | None:
    """Return the request id that the text contains, if it is one."""
    try:
        return UUID(text)
    except ValueError:
        return None


_LIST_SORTS: dict[str, Callable[[BanListSummary], Any]] = {
    "name": lambda brief: brief.list.name.casefold(),
    "bans": lambda brief: brief.bans,
    "hits": lambda brief: brief.hits.packets,
    "last": lambda brief: brief.hits.last.timestamp() if brief.hits.last else 0.0,
}


def sort_ban_lists(shown: Iterable[BanListSummary], sort: str) -> list[BanListSummary]:
    """Sort ban lists by one column of their table."""
    by = _LIST_SORTS.get(sort.removeprefix("-"), _LIST_SORTS["name"])
    return sorted(shown, key=by, reverse=sort.startswith("-"))
