"""The broker has hardly any memory left: a full one refuses every task."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

WARN, BAD = 0.8, 0.95


def _find(situation: PortalSituation) -> PortalEvidence | None:
    broker = situation.figures.broker
    share = broker.memory / broker.most_memory if broker.most_memory else 0.0
    if share < WARN:
        return None
    return PortalEvidence(PortalKind.BAD if share >= BAD else PortalKind.WARN, {"memory": broker.memory, "most": broker.most_memory})


def _describe(values: PortalValues) -> str:
    given = {name: formats.format_volume(int(value)) for name, value in values.items()}
    return _("Redis uses %(memory)s of the %(most)s that it may use. When it is full, it refuses every task.") % given


RULE: Final = PortalRule(
    "broker_full",
    gettext_lazy("Broker"),
    gettext_lazy("The broker (Redis) has hardly any memory left"),
    _find,
    _describe,
    gettext_lazy("Look for a queue that nobody serves (below), or raise “maxmemory” in Redis’ configuration."),
)
