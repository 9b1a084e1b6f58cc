"""Quotas: octets a calendar month that a tariff includes, and the members who are near their quota or over it.

A quota cuts nothing off: pages show how far it is used up.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.ui.states import StateKind
from apps.members.models import Member, Tariff
from apps.traffic.models import Quota
from apps.traffic.rollup_planner import align_border
from apps.traffic.selectors import build_member_sums_sql, run_large_query, sum_member_usage

log = structlog.get_logger()

NEAR: Final = 80  # percent
MAX_QUOTA_OCTETS: Final = 10**15  # octets; a petabyte, more than any sensible quota
_ABOVE: Final = """
    SELECT m.id, m.name, t.name, s.up, s.down, q.octets FROM ({by_member}) s
    JOIN members_member m ON m.id = s.member JOIN members_tariff t ON t.id = m.tariff_id JOIN traffic_quota q ON q.tariff_id = t.id
    WHERE 100 * (s.up + s.down)::numeric >= %s * q.octets ORDER BY (s.up + s.down)::numeric / q.octets DESC, m.id
"""


@dataclass(frozen=True, slots=True)
class QuotaUsage:
    """Octets used of a quota (octets) in the month [since, until)."""

    used: int
    octets: int
    since: datetime
    until: datetime

    @property
    def percent(self) -> int:
        return 100 * self.used // self.octets

    @property
    def kind(self) -> StateKind:
        return classify_percent(self.percent)


class MemberNearQuota(NamedTuple):
    """A member who is near the quota or over it. up, down, quota: octets."""

    member: int
    name: str
    tariff: str
    up: int
    down: int
    quota: int

    @property
    def total(self) -> int:
        return self.up + self.down

    @property
    def percent(self) -> int:
        return 100 * self.total // self.quota

    @property
    def kind(self) -> StateKind:
        return classify_percent(self.percent)


def classify_percent(percent: int) -> StateKind:
    """Return PLAIN below the threshold NEAR, WARN from there on, and BAD from 100 % on."""
    return StateKind.BAD if percent >= 100 else StateKind.WARN if percent >= NEAR else StateKind.PLAIN


def compute_month_bounds(now: datetime) -> tuple[datetime, datetime]:
    """Return start and end of the calendar month that contains this moment, in local time."""
    first = now.astimezone(get_current_timezone()).replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    return first, (first + timedelta(days=32)).replace(day=1)


def find_quota_usage(member: Member, *, now: datetime) -> QuotaUsage | None:
    """Return the usage of the member's quota this month, or None where the tariff has no quota."""
    quota = Quota.objects.filter(tariff=member.tariff_id).first()
    if quota is None:
        return None
    since, until = compute_month_bounds(now)
    used = sum_member_usage(member, align_border(since, now), now, now=now).total
    return QuotaUsage(used, quota.octets, since, until)


def list_members_above(percent: int, *, now: datetime) -> list[MemberNearQuota]:
    """Return the members who have used at least this percentage of their quota this month, the highest percentage first."""
    if not Quota.objects.exists():
        return []
    since = align_border(compute_month_bounds(now)[0], now)
    by_member, given = build_member_sums_sql(since, now, now)
    found = run_large_query(_ABOVE.format(by_member=by_member), [*given, percent])
    return [MemberNearQuota(pk, name, tariff, int(up), int(down), quota) for pk, name, tariff, up, down, quota in found]


def set_tariff_quota(*, tariff: Tariff, octets: int | None, by: User) -> None:
    """Set the tariff's quota in octets a month, or remove it (None). Raise Problem unless it is between 1 and MAX_QUOTA_OCTETS."""
    if octets is None:
        Quota.objects.filter(tariff=tariff).delete()
    elif 0 < octets <= MAX_QUOTA_OCTETS:
        Quota.objects.update_or_create(tariff=tariff, defaults={"octets": octets})
    else:
        raise Problem(_("A quota must be more than 0 and at most 1,000,000 GB."), "gigabytes")
    log.info("quota set", tariff=tariff.name, octets=octets, by=by.username)
