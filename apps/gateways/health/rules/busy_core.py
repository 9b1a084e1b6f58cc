"""One core does nearly all the work of the network: the average looks fine, and packets wait."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.lib.ui import formats
from firewall.health import KernelCounter

WARN, BAD = 0.7, 0.9  # of the core's time in soft interrupts
LOOPING: Final = 20.0  # packets a second whose hop limit ended


def _find(situation: HealthSituation) -> Evidence | None:
    core, interval = situation.interval.busiest, situation.interval
    if core is None or core.softirq < WARN:
        return None
    others = [each.softirq for each in interval.cores if each.core != core.core]
    values = {
        "core": float(core.core),
        "share": core.softirq,
        "others": sum(others) / len(others) if others else 0.0,
        "alone": float(bool(others)),
        "loops": interval.get_rate(KernelCounter.TIME_EXCEEDED4, KernelCounter.TIME_EXCEEDED6),
    }
    return Evidence(Kind.BAD if core.softirq >= BAD else Kind.WARN, values)


def _describe(values: EvidenceValues) -> str:
    given = {
        "core": int(values["core"]),
        "share": formats.format_percent(100 * float(values["share"]), 0),
        "others": formats.format_percent(100 * float(values["others"]), 0),
    }
    text = (
        _("Core %(core)d spends %(share)s of its time on packets, the others %(others)s on average.")
        if values["alone"]
        else _("Its only core spends %(share)s of its time on packets.")
    )
    cause = (
        _("Packets run in circles, too (see the routing loop).")
        if float(values["loops"]) > LOOPING
        else _("One large flow, a loop or an attack keeps one queue of the network card busy.")
    )
    return f"{text % given} {cause}"


RULE: Final = HealthRule(
    "busy_core",
    gettext_lazy("Busy core"),
    gettext_lazy("One core of %(gateway)s does most of the work"),
    _find,
    _describe,
    gettext_lazy("Spread the queues of the network card over all cores (RSS or RPS), and look for the largest flow."),
    measure="busiest_core",
)
