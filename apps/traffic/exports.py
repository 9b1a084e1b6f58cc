"""The tables of traffic as cells of a CSV: numbers as they are, times in ISO 8601."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.traffic.quotas import Above
from apps.traffic.selectors import By, Share, Talker
from apps.traffic.usage_charts import Way

type Row = list[object]

BY: Final[dict[By, Promise]] = {By.SITE: gettext_lazy("Site"), By.ROOM: gettext_lazy("Room"), By.TARIFF: gettext_lazy("Tariff")}


def way_head() -> list[str]:
    head = [_("Gateway"), _("IP version"), _("Begins"), _("Ends")]
    return [*head, _("Down, bit/s"), _("Up, bit/s"), _("Down, packets/s"), _("Up, packets/s"), _("Remark")]


def way_rows(ways: Iterable[Way]) -> Iterator[Row]:
    """A row for each bucket; without numbers where nobody read the gateway."""
    for way in ways:
        for step in way.steps:
            numbers = [f"{each:.1f}" for each in (*step.bits, *step.packets)] if step.bits and step.packets else [""] * 4
            remark = _("no reading") if not step.bits else "" if step.whole else _("a part was not read")
            yield [way.gateway, way.family, step.start.isoformat(), (step.start + way.unit).isoformat(), *numbers, remark]


def talker_head() -> list[str]:
    return [_("Place"), _("Member"), _("Down, bytes"), _("Up, bytes"), _("Together, bytes")]


def talker_rows(talkers: Iterable[Talker]) -> Iterator[Row]:
    return ([place, each.name, each.down, each.up, each.both] for place, each in enumerate(talkers, 1))


def sum_head(by: By) -> list[str]:
    return [str(BY[by]), _("Members"), _("Down, bytes"), _("Up, bytes"), _("Together, bytes")]


def sum_rows(shares: Iterable[Share]) -> Iterator[Row]:
    return ([each.name or _("none"), each.members, each.down, each.up, each.both] for each in shares)


def above_head() -> list[str]:
    return [_("Member"), _("Tariff"), _("Used, bytes"), _("Quota, bytes"), _("Percent")]


def above_rows(found: Iterable[Above]) -> Iterator[Row]:
    return ([each.name, each.tariff, each.both, each.quota, each.percent] for each in found)
