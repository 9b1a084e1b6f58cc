"""The members list: filters, order, and what its rows show.

It stays within its budget at 100,000 members: the page's ids are found by indexes only, and everything else is read for these
few.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.core.paginator import Page
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from apps.bans.blocks.selectors import count_blocked_members, list_blocked_member_ids
from apps.desk.result_cache import count_members, get_cached
from apps.lib.activation import list_activations
from apps.lib.database.joint_reads import read_together
from apps.lib.database.validity import is_valid_now
from apps.lib.ui.states import GatewaySymbol, StateKind, StateLabel, SymbolState
from apps.lib.web.paginators import CountedPaginator
from apps.members.models import Member, Site, Tariff
from apps.members.selectors import search_members
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Holding, Pool

PER_PAGE = 25
VIEWS = ("all", "active", "pending", "left", "trial", "blocked")
SORTS = ("name", "room", "state", "private", "public", "prefix", "forwards", "paid")


@dataclass(frozen=True)
class MemberListQuery:
    """The filters, order and page in the list's URL."""

    q: str = ""
    view: str = "all"
    house: Site | None = None
    tariff: Tariff | None = None
    paid_before: date | None = None
    sort: str = "name"
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.q or self.house or self.tariff or self.paid_before)

    @property
    def key(self) -> str:
        """Cache key of the count: the same for every page and order of one filter."""
        parts = (self.q, self.view, self.house and self.house.pk, self.tariff and self.tariff.pk, self.paid_before)
        return ":".join(str(part or "") for part in parts).encode().hex()


# --- Filters


def filter_members(want: MemberListQuery) -> QuerySet[Member]:
    """Return the members that the filters find, unordered."""
    members = search_members(Member.objects.order_by(), want.q)
    narrowed = Q()
    if want.house:
        narrowed &= Q(room__in=want.house.rooms.all())
    if want.tariff:
        narrowed &= Q(tariff=want.tariff)
    if want.paid_before:
        narrowed &= Q(paid_until__lt=want.paid_before) | Q(paid_until=None)
    return members.filter(_build_view_filter(want.view), narrowed)


def _build_view_filter(view: str) -> Q:
    if view == "trial":
        return Q(tariff__in=Tariff.objects.filter(trial=True))
    if view == "blocked":
        return Q(pk__in=list_blocked_member_ids())
    return Q() if view == "all" else Q(state=view)


def render_view_name(view: str) -> str:
    """Return the title of a tab."""
    words = {"all": _("All"), "active": _("Active"), "pending": _("Not yet active"), "left": _("Left"), "trial": _("Trial")}
    return words[view] if view in words else _("Blocked")


def count_by_view() -> dict[str, int]:
    """Return the number of members on each tab."""
    return {**count_members(), "blocked": count_blocked_members()}


def count_matches(want: MemberListQuery) -> int:
    """Return the number of members that the filters find."""
    return get_cached(f"members:{want.key}", filter_members(want).count) if want.is_filtered else count_by_view()[want.view]


# --- Order


def list_page_ids(want: MemberListQuery, start: int, length: int) -> list[int]:
    """Return the ids of one page. Members without a value in the sorted column come last in either direction."""
    return _slice_across(_list_ordered(want), start, length)


def _slice_across(parts: Sequence[QuerySet[Any, int]], start: int, length: int) -> list[int]:
    """Return a slice of the concatenated lists; a list is counted only if the slice begins after it."""
    ids: list[int] = []
    for part in parts:
        taken = list(part[start : start + length - len(ids)])
        ids += taken
        if len(ids) == length:
            break
        start = 0 if taken else max(0, start - (part.count() if start else 0))
    return ids


def _list_ordered(want: MemberListQuery) -> list[QuerySet[Any, int]]:
    key, down = want.sort.removeprefix("-"), want.sort.startswith("-")
    return _ORDERS[key](want, filter_members(want), down)


def _order_by(members: QuerySet[Member], down: bool, *columns: str) -> QuerySet[Any, int]:
    order = [F(column).desc() if down else F(column).asc() for column in columns]
    return members.order_by(*order).values_list("pk", flat=True)


def _make_column_order(*columns: str) -> "_Order":
    return lambda _want, members, down: [_order_by(members, down, *columns)]


def _order_by_payment(_want: MemberListQuery, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    return [
        _order_by(members.exclude(paid_until=None), down, "paid_until", "name", "id"),
        _order_by(members.filter(paid_until=None), False, "name", "id"),
    ]


def _order_by_room(want: MemberListQuery, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    """Order by site first: within a site, the index of its rooms gives the order."""
    sites = sorted(Site.objects.filter(pk=want.house.pk) if want.house else Site.objects.all(), key=lambda site: site.code, reverse=down)
    within = [_order_by(members.filter(room__site=site), down, "room__name", "name", "id") for site in sites]
    return [*within, _order_by(members.filter(room=None), False, "name", "id")]


def _make_address_order(kind: str) -> "_Order":
    def order(want: MemberListQuery, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
        held = Holding.objects.filter(is_valid_now(), kind=kind)
        lower = held.filter(member=OuterRef("member"), prefix__lt=OuterRef("prefix"))
        first = _limit_to_members(held.filter(~Exists(lower)), "member", want, members)
        return [
            _list_column(first, "member_id", down, "prefix"),
            _order_by(members.exclude(Exists(held.filter(member=OuterRef("pk")))), False, "name", "id"),
        ]

    return order


def _order_by_public(want: MemberListQuery, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    mapped = NatMapping.objects.filter(is_valid_now())
    lower = mapped.filter(holding__member=OuterRef("holding__member")).filter(
        Q(public__lt=OuterRef("public")) | Q(public=OuterRef("public"), pk__lt=OuterRef("pk"))
    )
    first = _limit_to_members(mapped.filter(~Exists(lower)), "holding__member", want, members)
    rest = members.exclude(Exists(mapped.filter(holding__member=OuterRef("pk"))))
    return [_list_column(first, "holding__member_id", down, "public", "id"), _order_by(rest, False, "name", "id")]


def _order_by_forwards(want: MemberListQuery, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    open_now = PortForward.objects.filter(is_valid_now())
    counted = (
        _limit_to_members(open_now, "holding__member", want, members).order_by().values("holding__member").annotate(number=Count("pk"))
    )
    some = _list_column(counted, "holding__member", down, "number", "holding__member")
    none = _order_by(members.exclude(Exists(open_now.filter(holding__member=OuterRef("pk")))), False, "name", "id")
    return [some, none] if down else [none, some]


def _limit_to_members(rows: QuerySet[Any], member: str, want: MemberListQuery, members: QuerySet[Member]) -> QuerySet[Any]:
    """Limit the rows to these members; without any filter, no condition is needed."""
    return rows.filter(**{f"{member}__in": members.values("pk")}) if want.is_filtered or want.view != "all" else rows


def _list_column(rows: QuerySet[Any], member: str, down: bool, *columns: str) -> QuerySet[Any, int]:
    return rows.order_by(*(f"-{column}" if down else column for column in columns)).values_list(member, flat=True)


type _Order = Callable[[MemberListQuery, QuerySet[Member], bool], list[QuerySet[Any, int]]]
_ORDERS: dict[str, _Order] = {
    "name": _make_column_order("name", "id"),
    "room": _order_by_room,
    "state": _make_column_order("state", "name", "id"),
    "private": _make_address_order(Pool.Kind.PRIVATE4),
    "public": _order_by_public,
    "prefix": _make_address_order(Pool.Kind.PREFIX6),
    "forwards": _order_by_forwards,
    "paid": _order_by_payment,
}


# --- Rows


@dataclass(frozen=True)
class MemberRow:
    """A member in the list. The page shows the first of several addresses, and the number of others."""

    member: Member
    state: StateLabel
    private: list[str] = field(default_factory=list)
    public: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    forwards: int = 0
    posts: tuple[GatewaySymbol, ...] = ()
    overdue: bool = False
    blocked: bool = False


def build_member_state_label(member: Member, *, blocked: bool = False) -> StateLabel:
    """Return the label of the state. Active members have plain text with a green icon, so that the exceptions stand out."""
    if blocked:
        return StateLabel(StateKind.BAD, _("Blocked"), "blocked")
    match member.state:
        case Member.State.ACTIVE:
            return StateLabel(StateKind.ACTIVE, _("Active"))
        case Member.State.LEFT:
            return StateLabel(StateKind.PLAIN, _("Left"), "sign-out")
    return StateLabel(StateKind.WAIT, _("Not yet active"))


def list_rows(ids: Sequence[int], today: date, *, gateways: bool = True) -> list[MemberRow]:
    """Return the rows of these members in this order, in three queries whatever their number.

    `gateways`: also read where they are active.
    """
    held = Holding.objects.filter(is_valid_now(), member__in=ids).only(
        "member_id", "group_id", "kind", "prefix", "changed_in", "changed_at"
    )
    mapped = NatMapping.objects.filter(is_valid_now(), holding__member__in=ids).order_by("public")
    forwards = PortForward.objects.filter(is_valid_now(), holding__member__in=ids).order_by().values_list("holding__member")
    found, addresses, leaving, counts, blocks = read_together(
        Member.objects.filter(pk__in=ids).select_related("tariff", "room__site").order_by(),
        held.order_by("prefix"),
        mapped.values_list("holding__member", "public").distinct(),
        forwards.annotate(number=Count("pk")),
        list_blocked_member_ids().filter(member__in=ids),
    )
    members, holdings = {each.pk: each for each in found}, _group_by_member(addresses)
    publics: dict[int, list[str]] = defaultdict(list)
    for pk, public in leaving:
        publics[pk].append(str(public))
    open_now, blocked = dict(counts), set(blocks)
    posts = _build_posts(holdings) if gateways else {}
    return [
        MemberRow(
            member=members[pk],
            state=build_member_state_label(members[pk], blocked=pk in blocked),
            blocked=pk in blocked,
            private=[each.address for each in holdings[pk] if each.kind == Pool.Kind.PRIVATE4],
            public=publics[pk],
            prefixes=[each.address for each in holdings[pk] if each.kind == Pool.Kind.PREFIX6],
            forwards=open_now.get(pk, 0),
            posts=posts.get(pk, ()) if members[pk].state == Member.State.ACTIVE else (),
            overdue=_is_overdue(members[pk], today),
        )
        for pk in ids
        if pk in members
    ]


def _is_overdue(member: Member, today: date) -> bool:
    return member.state == Member.State.ACTIVE and member.paid_until is not None and member.paid_until < today


def _group_by_member(holdings: Iterable[Holding]) -> dict[int, list[Holding]]:
    found: dict[int, list[Holding]] = defaultdict(list)
    for holding in holdings:
        found[holding.member_id].append(holding)
    return found


def _build_posts(holdings: Mapping[int, Sequence[Holding]]) -> dict[int, tuple[GatewaySymbol, ...]]:
    """Return a post for each gateway by member; it is full when the gateway runs everything that the member holds."""
    on: dict[int, dict[str, SymbolState]] = defaultdict(dict)
    for holding, known in list_activations([each for held in holdings.values() for each in held]):
        for each in known:
            whole = each.since is not None and on[holding.member_id].get(each.gateway, SymbolState.FULL) is SymbolState.FULL
            on[holding.member_id][each.gateway] = SymbolState.FULL if whole else SymbolState.HALF
    return {pk: tuple(GatewaySymbol(name, how) for name, how in sorted(gateways.items())) for pk, gateways in on.items()}


def build_page(want: MemberListQuery, today: date) -> Page[MemberRow]:
    """Return the wanted page; the last one if there are fewer."""
    paginator = CountedPaginator(count_matches(want), (), PER_PAGE)
    number = min(want.page, paginator.num_pages)
    return Page(list_rows(list_page_ids(want, (number - 1) * PER_PAGE, PER_PAGE), today), number, paginator)
