"""How full the sets are that packets fill: read from gateways with their counters, shown on their pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from apps.lib.ui.states import Kind
from apps.network.models import Gateway, Gauge
from firewall.limit_sets import Limited, limited_by

WARN_ABOVE = 80  # percent


@dataclass(frozen=True)
class Shown:
    """A set's gauge: what it counts, how much of how much, and what that means."""

    words: str
    used: int
    size: int
    at: datetime

    @property
    def percent(self) -> int:
        """How full it is, rounded down."""
        return self.used * 100 // self.size if self.size else 0

    @property
    def kind(self) -> Kind:
        """Above 80 % somebody should look: in a full set new keys are not limited."""
        return Kind.WARN if self.percent > WARN_ABOVE else Kind.PLAIN


def record(*, gateway: Gateway, sets: Mapping[str, tuple[int, int]], at: datetime) -> None:
    """What the gateway said of its dynamic sets; those it no longer has are forgotten."""
    rows = [Gauge(gateway=gateway, name=name, used=used, size=size, at=at) for name, (used, size) in sets.items() if limited_by(name)]
    with transaction.atomic():
        Gauge.objects.filter(gateway=gateway).exclude(name__in=sets).delete()
        Gauge.objects.bulk_create(rows, update_conflicts=True, unique_fields=["gateway", "name"], update_fields=["used", "size", "at"])


def gauges_of(gateway: Gateway) -> list[Shown]:
    """The fullest first."""
    rows = [(row, limited_by(row.name)) for row in Gauge.objects.filter(gateway=gateway)]
    shown = [Shown(_words(limited, row.name), row.used, row.size, row.at) for row, limited in rows if limited]
    return sorted(shown, key=lambda each: (-each.percent, each.words))


def _words(limited: Limited, name: str) -> str:
    family = "IPv4" if name.startswith(f"{limited}4") else "IPv6"
    words = {
        Limited.MEMBER_RATE: _("Members who connect, %(family)s"),
        Limited.MEMBER_OPEN: _("Members with open connections, %(family)s"),
        Limited.SOURCE_RATE: _("Foreign addresses that connect, %(family)s"),
        Limited.SOURCE_OPEN: _("Foreign addresses with open connections, %(family)s"),
        Limited.MAIL: _("Members who send mail, %(family)s"),
    }
    return words[limited] % {"family": family}
