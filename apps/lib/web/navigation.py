"""Navigation as data. Items whose URL does not exist are not shown.

Higher apps register counts for items (`register_counter`): violet if a person must act, grey for a mere number.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.lib.web.frame_reads import read_frame

User = AbstractBaseUser | AnonymousUser


@dataclass(frozen=True)
class NavigationCount:
    number: int
    asks: bool = False  # a person must act


NavigationCounter = Callable[[HttpRequest], NavigationCount | None]


def is_staff_user(user: User) -> bool:
    return user.is_authenticated and bool(getattr(user, "is_staff", False))


@dataclass(frozen=True)
class NavigationItem:
    name: str | Promise
    url_name: str
    icon: str
    visible: Callable[[User], bool] = is_staff_user


@dataclass(frozen=True)
class NavigationSection:
    name: str | Promise
    items: tuple[NavigationItem, ...]


SECTIONS = (
    NavigationSection(
        "", (NavigationItem(_("Dashboard"), "desk:dashboard", "dashboard"), NavigationItem(_("Tickets"), "tickets:list", "tickets"))
    ),
    NavigationSection(
        _("People"),
        (
            NavigationItem(_("Members"), "desk:members", "members"),
            NavigationItem(_("Announcements"), "announcements:list", "announce"),
            NavigationItem(_("Houses and rooms"), "members:sites", "sites"),
            NavigationItem(_("Tariffs"), "members:tariffs", "tariffs"),
        ),
    ),
    NavigationSection(
        _("Network"),
        (
            NavigationItem(_("Addresses"), "network:addresses", "addresses"),
            NavigationItem(_("NAT and forwards"), "nat:forwards", "nat"),
            NavigationItem(_("IPv6 pinholes"), "nat:pinholes", "pinholes"),
            NavigationItem(_("Bans and blocks"), "bans:lists", "bans"),
            NavigationItem(_("Listeners"), "bans:listeners", "listeners"),
            NavigationItem(_("Traffic"), "traffic:overview", "traffic"),
            NavigationItem(_("Rate limits"), "rates:list", "limited"),
        ),
    ),
    NavigationSection(
        _("Operation"),
        (
            NavigationItem(_("Alarms"), "alarms:list", "warn"),
            NavigationItem(_("Rollouts"), "deployments:rollouts", "rollouts"),
            NavigationItem(_("Gateways"), "gateways:list", "gateways"),
            NavigationItem(_("Why?"), "desk:why", "why"),
            NavigationItem(_("Inbox"), "inbound:arrivals", "reply"),
            NavigationItem(_("Outbox"), "mail:outbox", "mail"),
            NavigationItem(_("Exports"), "desk:exports", "download"),
            NavigationItem(_("System"), "desk:system", "clock"),
            NavigationItem(_("Webhooks"), "webhooks:list", "bell"),
            NavigationItem(_("Incidents"), "status:incidents", "incidents"),
            NavigationItem(_("Settings"), "desk:settings", "settings"),
        ),
    ),
    NavigationSection(
        _("Desk"),
        (
            NavigationItem(_("Abuse desk"), "desk:abuse", "abuse"),
            NavigationItem(_("History"), "audit:history", "history"),
            NavigationItem(_("Accounts and roles"), "accounts:people", "key"),
        ),
    ),
)

_counters: dict[str, NavigationCounter] = {}
AccessCheck = Callable[[User, str], bool]
_doorkeepers: list[AccessCheck] = []


def register_access_check(doorkeeper: AccessCheck) -> None:
    """Register the check that knows, by URL name, who may open a page. Pages that the account may not open are not shown."""
    _doorkeepers[:] = [doorkeeper]


def register_counter(url_name: str) -> Callable[[NavigationCounter], NavigationCounter]:
    """Register an item's counter: `@register_counter("deployments:rollouts")`, in the ready() of the app that owns the number."""

    def register(counter: NavigationCounter) -> NavigationCounter:
        _counters[url_name] = counter
        return counter

    return register


@dataclass(frozen=True)
class ShownItem:
    name: str | Promise
    url: str
    icon: str
    current: bool
    count: NavigationCount | None


@dataclass(frozen=True)
class ShownSection:
    name: str | Promise
    items: tuple[ShownItem, ...]


def build_navigation(request: HttpRequest, user: User) -> list[ShownSection]:
    """Return the sections with the items that the account may open.

    The current item is the one with the longest URL that begins the path.
    """
    read_frame()
    links = {
        item.url_name: url for section in SECTIONS for item in section.items if _can_open(item, user) and (url := _find_url(item.url_name))
    }
    current = max((url for url in links.values() if _is_prefix(url, request.path)), key=len, default="")
    sections = (
        ShownSection(
            section.name,
            tuple(_build_item(item, links[item.url_name], current, request) for item in section.items if item.url_name in links),
        )
        for section in SECTIONS
    )
    return [section for section in sections if section.items]


def _build_item(item: NavigationItem, url: str, current: str, request: HttpRequest) -> ShownItem:
    counter = _counters.get(item.url_name)
    return ShownItem(item.name, url, item.icon, url == current, counter(request) if counter else None)


def _can_open(item: NavigationItem, user: User) -> bool:
    return item.visible(user) and all(lets_in(user, item.url_name) for lets_in in _doorkeepers)


def _is_prefix(url: str, path: str) -> bool:
    return path == url or (url != "/" and path.startswith(url))


def _find_url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
