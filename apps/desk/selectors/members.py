"""The members list: which members, in which order, and what their rows show.

Stays within its budget at 100,000 members: the page's ids are found by indexes alone, everything else is read for these few.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.core.paginator import Page
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.bans.blocks.selectors import blocked_members, counted
from apps.desk.forms import FilterForm
from apps.desk.selectors.keeping import kept, member_counts
from apps.lib.activation import activations
from apps.lib.database.validity import holds_now
from apps.lib.ui.states import Kind, On, Post, State
from apps.lib.web.paginators import Counted
from apps.lib.web.query_params import number, words
from apps.members.models import Member, Site, Tariff
from apps.members.selectors import search
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Holding, Pool

PER_PAGE = 25
VIEWS = ("all", "active", "pending", "left", "trial", "blocked")
SORTS = ("name", "room", "state", "private", "public", "prefix", "forwards", "paid")


@dataclass(frozen=True)
class Wanted:
    """What the address of the list asks for."""

    q: str = ""
    view: str = "all"
    house: Site | None = None
    tariff: Tariff | None = None
    paid_before: date | None = None
    sort: str = "name"
    page: int = 1

    @property
    def filtered(self) -> bool:
        return bool(self.q or self.house or self.tariff or self.paid_before)

    @property
    def key(self) -> str:
        """Tells what is counted: the same for every page and order of one filter."""
        parts = (self.q, self.view, self.house and self.house.pk, self.tariff and self.tariff.pk, self.paid_before)
        return ":".join(str(part or "") for part in parts).encode().hex()


def wanted(params: QueryDict) -> Wanted:
    """Whatever stands in the address, something sensible comes out."""
    form = FilterForm(params)
    form.is_valid()
    sort, view = params.get("sort", ""), params.get("view", "")
    return Wanted(
        q=words(params, "q"),
        view=view if view in VIEWS else "all",
        sort=sort if sort.removeprefix("-") in SORTS else "name",
        page=max(1, number(params, "page")),
        **{name: form.cleaned_data.get(name) for name in ("house", "tariff", "paid_before")},
    )


# --- Which


def found(want: Wanted) -> QuerySet[Member]:
    """The members asked for, in no order."""
    members = search(Member.objects.order_by(), want.q)
    narrowed = Q()
    if want.house:
        narrowed &= Q(room__in=want.house.rooms.all())
    if want.tariff:
        narrowed &= Q(tariff=want.tariff)
    if want.paid_before:
        narrowed &= Q(paid_until__lt=want.paid_before) | Q(paid_until=None)
    return members.filter(_of_view(want.view), narrowed)


def _of_view(view: str) -> Q:
    if view == "trial":
        return Q(tariff__in=Tariff.objects.filter(trial=True))
    if view == "blocked":
        return Q(pk__in=blocked_members())
    return Q() if view == "all" else Q(state=view)


def view_words(view: str) -> str:
    """What a tab says."""
    words = {"all": _("All"), "active": _("Active"), "pending": _("Not yet active"), "left": _("Left"), "trial": _("Trial")}
    return words[view] if view in words else _("Blocked")


def counts() -> dict[str, int]:
    """How many members each tab shows."""
    return {**member_counts(), "blocked": counted()}


def total(want: Wanted) -> int:
    """How many members are found."""
    return kept(f"members:{want.key}", found(want).count) if want.filtered else counts()[want.view]


# --- In which order


def ids_in_order(want: Wanted, start: int, length: int) -> list[int]:
    """The ids of one page. Members who lack what is sorted by come last, whichever way."""
    return _across(_ordered(want), start, length)


def _across(parts: Sequence[QuerySet[Any, int]], start: int, length: int) -> list[int]:
    """A slice of several lists laid end to end; a list is counted only where the slice begins behind it."""
    ids: list[int] = []
    for part in parts:
        taken = list(part[start : start + length - len(ids)])
        ids += taken
        if len(ids) == length:
            break
        start = 0 if taken else max(0, start - (part.count() if start else 0))
    return ids


def _ordered(want: Wanted) -> list[QuerySet[Any, int]]:
    key, down = want.sort.removeprefix("-"), want.sort.startswith("-")
    return _ORDERS[key](want, found(want), down)


def _by(members: QuerySet[Member], down: bool, *columns: str) -> QuerySet[Any, int]:
    order = [F(column).desc() if down else F(column).asc() for column in columns]
    return members.order_by(*order).values_list("pk", flat=True)


def _by_column(*columns: str) -> "_Order":
    return lambda _want, members, down: [_by(members, down, *columns)]


def _by_payment(_want: Wanted, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    return [
        _by(members.exclude(paid_until=None), down, "paid_until", "name", "id"),
        _by(members.filter(paid_until=None), False, "name", "id"),
    ]


def _by_room(want: Wanted, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    """House by house: within one, the index of its rooms gives the order."""
    sites = sorted(Site.objects.filter(pk=want.house.pk) if want.house else Site.objects.all(), key=lambda site: site.code, reverse=down)
    within = [_by(members.filter(room__site=site), down, "room__name", "name", "id") for site in sites]
    return [*within, _by(members.filter(room=None), False, "name", "id")]


def _by_address(kind: str) -> "_Order":
    def order(want: Wanted, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
        held = Holding.objects.filter(holds_now(), kind=kind)
        lower = held.filter(member=OuterRef("member"), prefix__lt=OuterRef("prefix"))
        first = _of(held.filter(~Exists(lower)), "member", want, members)
        return [
            _column(first, "member_id", down, "prefix"),
            _by(members.exclude(Exists(held.filter(member=OuterRef("pk")))), False, "name", "id"),
        ]

    return order


def _by_public(want: Wanted, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    mapped = NatMapping.objects.filter(holds_now())
    lower = mapped.filter(holding__member=OuterRef("holding__member")).filter(
        Q(public__lt=OuterRef("public")) | Q(public=OuterRef("public"), pk__lt=OuterRef("pk"))
    )
    first = _of(mapped.filter(~Exists(lower)), "holding__member", want, members)
    rest = members.exclude(Exists(mapped.filter(holding__member=OuterRef("pk"))))
    return [_column(first, "holding__member_id", down, "public", "id"), _by(rest, False, "name", "id")]


def _by_forwards(want: Wanted, members: QuerySet[Member], down: bool) -> list[QuerySet[Any, int]]:
    open_now = PortForward.objects.filter(holds_now())
    counted = _of(open_now, "holding__member", want, members).order_by().values("holding__member").annotate(number=Count("pk"))
    some = _column(counted, "holding__member", down, "number", "holding__member")
    none = _by(members.exclude(Exists(open_now.filter(holding__member=OuterRef("pk")))), False, "name", "id")
    return [some, none] if down else [none, some]


def _of(rows: QuerySet[Any], member: str, want: Wanted, members: QuerySet[Member]) -> QuerySet[Any]:
    """Rows of these members; of all, there is nothing to ask."""
    return rows.filter(**{f"{member}__in": members.values("pk")}) if want.filtered or want.view != "all" else rows


def _column(rows: QuerySet[Any], member: str, down: bool, *columns: str) -> QuerySet[Any, int]:
    return rows.order_by(*(f"-{column}" if down else column for column in columns)).values_list(member, flat=True)


type _Order = Callable[[Wanted, QuerySet[Member], bool], list[QuerySet[Any, int]]]
_ORDERS: dict[str, _Order] = {
    "name": _by_column("name", "id"),
    "room": _by_room,
    "state": _by_column("state", "name", "id"),
    "private": _by_address(Pool.Kind.PRIVATE4),
    "public": _by_public,
    "prefix": _by_address(Pool.Kind.PREFIX6),
    "forwards": _by_forwards,
    "paid": _by_payment,
}


# --- What a row shows


@dataclass(frozen=True)
class Row:
    """A member in the list. Of several addresses the first is shown, and how many more there are."""

    member: Member
    state: State
    private: list[str] = field(default_factory=list)
    public: list[str] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    forwards: int = 0
    posts: tuple[Post, ...] = ()
    overdue: bool = False
    blocked: bool = False


def state_of(member: Member, *, blocked: bool = False) -> State:
    """Active is ink with a green icon, so that the exceptions stand out."""
    if blocked:
        return State(Kind.BAD, _("Blocked"), "blocked")
    match member.state:
        case Member.State.ACTIVE:
            return State(Kind.ACTIVE, _("Active"))
        case Member.State.LEFT:
            return State(Kind.PLAIN, _("Left"), "sign-out")
    return State(Kind.WAIT, _("Not yet active"))


def rows(ids: Sequence[int], today: date, *, gateways: bool = True) -> list[Row]:
    """What the list shows of these members, in this order: six queries, whatever their number. `gateways`: also where they are active."""
    members = Member.objects.select_related("tariff", "room__site").in_bulk(ids)
    held = Holding.objects.filter(holds_now(), member__in=ids).only("member_id", "group_id", "kind", "prefix", "changed_in", "changed_at")
    holdings = _by_member(held.order_by("prefix"))
    publics: dict[int, list[str]] = defaultdict(list)
    mapped = NatMapping.objects.filter(holds_now(), holding__member__in=ids).order_by("public")
    for pk, public in mapped.values_list("holding__member", "public").distinct():
        publics[pk].append(str(public))
    forwards = PortForward.objects.filter(holds_now(), holding__member__in=ids).order_by().values_list("holding__member")
    open_now = dict(forwards.annotate(number=Count("pk")))
    blocked = set(blocked_members().filter(member__in=ids))
    posts = _posts(holdings) if gateways else {}
    return [
        Row(
            member=members[pk],
            state=state_of(members[pk], blocked=pk in blocked),
            blocked=pk in blocked,
            private=[each.address for each in holdings[pk] if each.kind == Pool.Kind.PRIVATE4],
            public=publics[pk],
            prefixes=[each.address for each in holdings[pk] if each.kind == Pool.Kind.PREFIX6],
            forwards=open_now.get(pk, 0),
            posts=posts.get(pk, ()) if members[pk].state == Member.State.ACTIVE else (),
            overdue=_overdue(members[pk], today),
        )
        for pk in ids
        if pk in members
    ]


def _overdue(member: Member, today: date) -> bool:
    return member.state == Member.State.ACTIVE and member.paid_until is not None and member.paid_until < today


def _by_member(holdings: Iterable[Holding]) -> dict[int, list[Holding]]:
    found: dict[int, list[Holding]] = defaultdict(list)
    for holding in holdings:
        found[holding.member_id].append(holding)
    return found


def _posts(holdings: Mapping[int, Sequence[Holding]]) -> dict[int, tuple[Post, ...]]:
    """A gateway's post is full when it runs everything the member holds."""
    on: dict[int, dict[str, On]] = defaultdict(dict)
    for holding, known in activations([each for held in holdings.values() for each in held]):
        for each in known:
            whole = each.since is not None and on[holding.member_id].get(each.gateway, On.FULL) is On.FULL
            on[holding.member_id][each.gateway] = On.FULL if whole else On.HALF
    return {pk: tuple(Post(name, how) for name, how in sorted(gateways.items())) for pk, gateways in on.items()}


def page(want: Wanted, today: date) -> Page[Row]:
    """The page asked for; the last one where there are fewer."""
    paginator = Counted(total(want), (), PER_PAGE)
    number = min(want.page, paginator.num_pages)
    return Page(rows(ids_in_order(want, (number - 1) * PER_PAGE, PER_PAGE), today), number, paginator)
