"""Packets are lost before the ruleset sees them, because a core's backlog is full (/proc/net/softnet_stat)."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats

LEAST: Final = 1.0  # packets a second


def _find(situation: HealthSituation) -> Evidence | None:
    lost = sum(each.dropped for each in situation.interval.cores)
    return Evidence(Kind.BAD, {"lost": lost}) if lost >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    return _("Packets dropped unseen: %(lost)s. A core cannot keep up.") % {"lost": formats.format_packets(float(values["lost"]))}


RULE: Final = HealthRule(
    "backlog_drops",
    gettext_lazy("Backlog"),
    gettext_lazy("%(gateway)s drops packets before it looks at them"),
    _find,
    _describe,
    gettext_lazy("Spread the work over more cores, then raise net.core.netdev_max_backlog."),
    measure="packets",
)
