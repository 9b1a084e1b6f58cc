"""Random changes of rates: tariffs, rate limits, the switch. Part of tests/random_changes.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from apps.members.models import Member, Tariff
from apps.traffic.models import RateLimit
from apps.traffic.rates import services

if TYPE_CHECKING:
    from tests.random_changes import Changes

RATES = [(1000, 4000), (None, 2000), (500, None)]


def rate_changes(of: Changes) -> list[Callable[[], object]]:
    """Return functions that make one change each; frequent ones appear twice."""

    def limit() -> object:
        up, down = of.dice.choice(RATES)
        reason, ends = of.dice.choice(RateLimit.Reason.values), of.dice.choice([None, of._time()])
        member = of._any(Member.objects.all())
        return services.limit_member(member=member, up_kbit=up, down_kbit=down, reason=reason, until=ends, by=of.net.admin)

    def limit_members() -> object:
        up, down = of.dice.choice(RATES)
        members = [each.pk for each in Member.objects.order_by("pk") if of.dice.random() < 0.4]
        return services.limit_members(members=members, up_kbit=up, down_kbit=down, until=of._time())

    def raw_limit() -> object:
        """Limit any member, even one who is not active or is already limited at that time."""
        up, down = of.dice.choice(RATES)
        valid = DateTimeTZRange(*of._range())
        return RateLimit.objects.create(member=of._any(Member.objects.all()), up_kbit=up, down_kbit=down, reason="other", valid=valid)

    def raw_validity() -> None:
        begin, end = of._range()
        pk = of._any(RateLimit.objects.all()).pk
        of.sql("UPDATE traffic_ratelimit SET valid = tstzrange(%s, %s), down_kbit = 3000 WHERE id = %s", begin, end, pk)

    def release() -> object:
        return services.release_rate_limits(limits=[of._any(RateLimit.objects.all()).pk], by=None)

    def delete() -> object:
        return RateLimit.objects.filter(pk=of._any(RateLimit.objects.all()).pk).delete()

    def tariff() -> object:
        up, down = of.dice.choice([*RATES, (None, None)])
        return Tariff.objects.update_or_create(name="Trial", defaults={"up_kbit": up, "down_kbit": down})

    def another_tariff() -> object:
        return Member.objects.filter(pk=of._any(Member.objects.all()).pk).update(tariff=of._any(Tariff.objects.all()))

    def switch() -> object:
        return services.switch_rate_limits(group=of.net.group, on=of.dice.random() < 0.7, by=of.net.admin)

    return [limit, limit, limit_members, raw_limit, raw_validity, release, delete, tariff, another_tariff, another_tariff, switch]
