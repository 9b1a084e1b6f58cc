"""Rows of CSV for the tables of traffic: plain numbers, times in ISO 8601."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.traffic.quotas import MemberNearQuota
from apps.traffic.selectors import GroupedUsage, TopTalker, UsageGrouping
from apps.traffic.usage_charts import GatewayThroughput

type CsvRow = list[object]

BY: Final[dict[UsageGrouping, Promise]] = {
    UsageGrouping.SITE: gettext_lazy("Site"),
    UsageGrouping.ROOM: gettext_lazy("Room"),
    UsageGrouping.TARIFF: gettext_lazy("Tariff"),
}


def build_throughput_head() -> list[str]:
    head = [_("Gateway"), _("IP version"), _("Begins"), _("Ends")]
    return [*head, _("Down, bit/s"), _("Up, bit/s"), _("Down, packets/s"), _("Up, packets/s"), _("Remark")]


def iter_throughput_rows(ways: Iterable[GatewayThroughput]) -> Iterator[CsvRow]:
    """Yield a row for each bucket, without numbers where the gateway was not read."""
    for way in ways:
        for step in way.steps:
            numbers = [f"{each:.1f}" for each in (*step.bits, *step.packets)] if step.bits and step.packets else [""] * 4
            remark = _("no reading") if not step.bits else "" if step.whole else _("a part was not read")
            yield [way.gateway, way.family, step.start.isoformat(), (step.start + way.unit).isoformat(), *numbers, remark]


def build_talker_head() -> list[str]:
    return [_("Rank"), _("Member"), _("Down, bytes"), _("Up, bytes"), _("Total, bytes")]


def iter_talker_rows(talkers: Iterable[TopTalker]) -> Iterator[CsvRow]:
    return ([place, each.name, each.down, each.up, each.total] for place, each in enumerate(talkers, 1))


def build_grouped_usage_head(by: UsageGrouping) -> list[str]:
    return [str(BY[by]), _("Members"), _("Down, bytes"), _("Up, bytes"), _("Total, bytes")]


def iter_grouped_usage_rows(shares: Iterable[GroupedUsage]) -> Iterator[CsvRow]:
    return ([each.name or _("none"), each.members, each.down, each.up, each.total] for each in shares)


def build_quota_head() -> list[str]:
    return [_("Member"), _("Tariff"), _("Used, bytes"), _("Quota, bytes"), _("Percent")]


def iter_quota_rows(found: Iterable[MemberNearQuota]) -> Iterator[CsvRow]:
    return ([each.name, each.tariff, each.total, each.quota, each.percent] for each in found)
