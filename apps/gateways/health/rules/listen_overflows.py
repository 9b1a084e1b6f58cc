"""Services on the gateway itself cannot accept connections as fast as they come: an attack, or a service that hangs."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind, affects_nobody_yet
from apps.lib.ui import formats
from firewall.health import KernelCounter

LEAST: Final = 1.0  # a second


def _find(situation: HealthSituation) -> Evidence | None:
    lost = situation.interval.get_rate(KernelCounter.LISTEN_OVERFLOWS)
    cookies = situation.interval.get_rate(KernelCounter.SYN_COOKIES, KernelCounter.REQUEST_QUEUE_COOKIES)
    return Evidence(Kind.WARN, {"lost": lost, "cookies": cookies}) if max(lost, cookies) >= LEAST else None


def _describe(values: EvidenceValues) -> str:
    rates = {name: formats.format_packets(float(value)) for name, value in values.items()}
    return _("Lost connections to the gateway itself: %(lost)s; answered with SYN cookies: %(cookies)s.") % rates


RULE: Final = HealthRule(
    "listen_overflows",
    gettext_lazy("Overflow"),
    gettext_lazy("A service on %(gateway)s cannot keep up with its connections"),
    _find,
    _describe,
    gettext_lazy("Look with “ss -ltn” which queue is full. If it is an attack, limit who reaches the service."),
    affects_members=affects_nobody_yet,
)
