"""A set that packets fill is nearly full: a full one no longer limits who is not in it yet."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.gateways.health.rule import Evidence, EvidenceValues, HealthRule, HealthSituation, Kind
from apps.gateways.set_texts import describe_set
from apps.lib.ui import formats

WARN: Final = 0.9


def _find(situation: HealthSituation) -> Evidence | None:
    shares = {name: used / size for name, (used, size) in situation.sets.items() if size}
    fullest = max(shares, key=lambda name: shares[name], default="")
    if not fullest or shares[fullest] < WARN:
        return None
    used, size = situation.sets[fullest]
    return Evidence(Kind.WARN, {"name": fullest, "used": used, "size": size})


def _describe(values: EvidenceValues) -> str:
    given = {"words": describe_set(str(values["name"])), **{name: formats.format_number(int(values[name])) for name in ("used", "size")}}
    return _("%(words)s: %(used)s of %(size)s. When it is full, further ones are not limited.") % given


RULE: Final = HealthRule(
    "set_full",
    gettext_lazy("Set"),
    gettext_lazy("A set of limits of %(gateway)s is nearly full"),
    _find,
    _describe,
    gettext_lazy("Look for an attack from very many addresses; otherwise raise the limit, or switch it off, on the group’s page."),
)
