"""The machine's clock differs from the portal's: bans end early or late, logs cannot be compared."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats

LEAST: Final = 5.0  # seconds


def _find(situation: HealthSituation) -> Evidence | None:
    offset = situation.interval.clock_offset
    return Evidence(Kind.WARN, {"offset": offset}) if abs(offset) - situation.interval.clock_doubt >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    offset = float(values["offset"])
    text = _("Its clock is %(time)s ahead of the portal’s.") if offset > 0 else _("Its clock is %(time)s behind the portal’s.")
    return text % {"time": formats.format_duration(abs(offset))}


RULE: Final = HealthRule(
    "clock_offset",
    gettext_lazy("Clock"),
    gettext_lazy("The clock of %(gateway)s is wrong"),
    _find,
    _describe,
    gettext_lazy("Check on both machines that the clock is synchronised (“timedatectl”); the portal’s may be the wrong one."),
    affects_members=affects_nobody_yet,
    measure="clock_offset",
)
