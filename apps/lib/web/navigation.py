"""The navigation as data. Only what exists is linked: an item whose URL no app has is not shown.

A higher app says how many things lie behind an item with `counts`: violet where somebody must act, grey where it is just a number.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

User = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class Count:
    number: int
    asks: bool = False  # somebody must act


Counter = Callable[[HttpRequest], Count | None]


def for_staff(user: User) -> bool:
    return user.is_authenticated and bool(getattr(user, "is_staff", False))


@dataclass(frozen=True)
class Item:
    name: str | Promise
    url_name: str
    icon: str
    visible: Callable[[User], bool] = for_staff


@dataclass(frozen=True)
class Section:
    name: str | Promise
    items: tuple[Item, ...]


SECTIONS = (
    Section("", (Item(_("Dashboard"), "desk:dashboard", "dashboard"), Item(_("Tickets"), "tickets:list", "tickets"))),
    Section(
        _("People"),
        (
            Item(_("Members"), "desk:members", "members"),
            Item(_("Sites and rooms"), "members:sites", "sites"),
            Item(_("Tariffs"), "members:tariffs", "tariffs"),
        ),
    ),
    Section(
        _("Network"),
        (
            Item(_("Addresses"), "network:addresses", "addresses"),
            Item(_("NAT and forwards"), "nat:forwards", "nat"),
            Item(_("IPv6 pinholes"), "nat:pinholes", "pinholes"),
            Item(_("Bans and blocks"), "bans:lists", "bans"),
            Item(_("Listeners"), "bans:listeners", "listeners"),
            Item(_("Traffic"), "traffic:overview", "traffic"),
            Item(_("Rate limits"), "rates:list", "limited"),
        ),
    ),
    Section(
        _("Operation"),
        (
            Item(_("Rollouts"), "deployments:rollouts", "rollouts"),
            Item(_("Gateways"), "gateways:list", "gateways"),
            Item(_("Why?"), "desk:why", "why"),
            Item(_("Inbox"), "inbound:arrivals", "reply"),
            Item(_("Outbox"), "mail:outbox", "mail"),
            Item(_("Exports"), "desk:exports", "download"),
            Item(_("System"), "desk:system", "clock"),
            Item(_("Webhooks"), "webhooks:list", "bell"),
            Item(_("Incidents"), "status:incidents", "incidents"),
        ),
    ),
    Section(
        _("Desk"),
        (
            Item(_("Abuse desk"), "desk:abuse", "abuse"),
            Item(_("History"), "audit:history", "history"),
            Item(_("Accounts and roles"), "accounts:people", "key"),
            Item(_("Settings"), "desk:settings", "settings"),
        ),
    ),
)

_counters: dict[str, Counter] = {}
Doorkeeper = Callable[[User, str], bool]
_doorkeepers: list[Doorkeeper] = []


def opens(doorkeeper: Doorkeeper) -> None:
    """Register the one that knows who may go where, by the page's name in the URL configuration; what nobody may use is not shown."""
    _doorkeepers[:] = [doorkeeper]


def counts(url_name: str) -> Callable[[Counter], Counter]:
    """Register what counts behind an item: `@counts("deployments:rollouts")`, in the ready() of the app that owns the number."""

    def register(counter: Counter) -> Counter:
        _counters[url_name] = counter
        return counter

    return register


@dataclass(frozen=True)
class ShownItem:
    name: str | Promise
    url: str
    icon: str
    current: bool
    count: Count | None


@dataclass(frozen=True)
class ShownSection:
    name: str | Promise
    items: tuple[ShownItem, ...]


def shown(request: HttpRequest, user: User) -> list[ShownSection]:
    """The sections this person sees, without empty ones; the item whose address the request's begins with, the longest, is current."""
    links = {item.url_name: url for section in SECTIONS for item in section.items if _open(item, user) and (url := _url(item.url_name))}
    current = max((url for url in links.values() if _leads(url, request.path)), key=len, default="")
    sections = (
        ShownSection(
            section.name, tuple(_shown(item, links[item.url_name], current, request) for item in section.items if item.url_name in links)
        )
        for section in SECTIONS
    )
    return [section for section in sections if section.items]


def _shown(item: Item, url: str, current: str, request: HttpRequest) -> ShownItem:
    counter = _counters.get(item.url_name)
    return ShownItem(item.name, url, item.icon, url == current, counter(request) if counter else None)


def _open(item: Item, user: User) -> bool:
    return item.visible(user) and all(lets_in(user, item.url_name) for lets_in in _doorkeepers)


def _leads(url: str, path: str) -> bool:
    return path == url or (url != "/" and path.startswith(url))


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
