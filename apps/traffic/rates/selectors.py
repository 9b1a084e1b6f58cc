"""Queries of rate limits and of gateway groups' uplinks."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.lib.activation import Activation, list_activations
from apps.lib.database.validity import is_valid_now
from apps.lib.ui.states import GatewaySymbol, SymbolState
from apps.lib.web.cached_rows import cache_rows
from apps.members.models import Member
from apps.network.models import GatewayGroup, Holding, Uplink
from apps.traffic.rates.models import RateLimit

STATES = ("now", "over", "all")


def find_current_limit(member: Member) -> RateLimit | None:
    """Return the member's rate limit that holds now."""
    return next(iter(list_current_limits(member)), None)


@cache_rows
def list_current_limits(member: Member) -> QuerySet[RateLimit]:
    """Return the member's rate limit that holds now, or no row. Read once for all parts of a page."""
    return RateLimit.objects.filter(is_valid_now(), member=member).select_related("author")[:1]


def list_rate_limits(state: str = "now", search: str = "", reason: str = "") -> QuerySet[RateLimit]:
    """Return the rate limits that hold now, are over, or all, the newest first. search: part of the member's name, or the number."""
    found = RateLimit.objects.select_related("member", "author", "released_by").order_by("-id")
    found = found.filter(is_valid_now()) if state == "now" else found.exclude(is_valid_now()) if state == "over" else found
    if reason:
        found = found.filter(reason=reason)
    text = search.strip().replace("\0", "")
    number = text.upper().removeprefix("M-")
    if not text:
        return found
    named = Q(member__name__icontains=text)
    return found.filter(named | Q(member__number=int(number)) if number.isascii() and number.isdigit() and len(number) < 10 else named)


def get_uplink(group: GatewayGroup) -> Uplink:
    """Return the group's uplink; where it has none, an unsaved one of version 0."""
    return Uplink.objects.filter(group=group).first() or Uplink(group=group, version=0)


def list_uplinks() -> list[Uplink]:
    """Return one uplink for each group, by the group's name; unsaved ones of version 0 where a group has none."""
    groups = GatewayGroup.objects.select_related("uplink").order_by("name")
    return [group.uplink if hasattr(group, "uplink") else Uplink(group=group, version=0) for group in groups]


def is_rate_limiting_on(member: Member) -> bool:
    """True if rate limits are switched on in all groups where the member has a holding now."""
    return not list_unlimited_uplinks(member)


@cache_rows
def list_unlimited_uplinks(member: Member) -> QuerySet[Uplink, int]:
    """Return the ids of uplinks whose rate limits are switched off, of groups where the member has a holding now."""
    held = Holding.objects.filter(is_valid_now(), member=member).values("group")
    return Uplink.objects.filter(limits_rates=False, group__in=held).values_list("pk", flat=True)


@dataclass(frozen=True)
class RateLimitRow:
    """A rate limit with its activation on each gateway."""

    limit: RateLimit
    gateways: list[Activation]
    now: datetime

    @property
    def is_over(self) -> bool:
        end = self.limit.valid.upper
        return end is not None and end <= self.now

    @property
    def posts(self) -> list[GatewaySymbol]:
        there = SymbolState.HOLLOW if self.is_over else SymbolState.FULL
        return [GatewaySymbol(each.gateway, there if each.since else SymbolState.HALF) for each in self.gateways]


def build_rows(limits: Iterable[RateLimit]) -> list[RateLimitRow]:
    """Return the limits with their activations. Takes two queries for any number of limits."""
    now = timezone.now()
    return [RateLimitRow(limit, known, now) for limit, known in list_activations(limits)]
