"""What changed in a time: rollouts, moves of address families, and when something was found to be wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _

from apps.deployments.models import Rollout
from apps.gateways.health.finding_texts import render_title
from apps.gateways.health.models import HealthFinding
from apps.gateways.roles.models import CarrierChange
from apps.lib.ui.charts import ChartEvent
from apps.network.models import Gateway

MOST: Final = 12  # newer changes hide older ones


@dataclass(frozen=True)
class NetworkChange:
    """One change. route, key: name and argument of the page that shows it, "" if there is none."""

    at: datetime
    words: str
    is_fault: bool = False
    route: str = ""
    key: int = 0

    @property
    def event(self) -> ChartEvent:
        """The line in the charts."""
        return ChartEvent(self.at, self.is_fault)


def list_changes(gateway: Gateway, since: datetime, findings: list[HealthFinding]) -> list[NetworkChange]:
    """Return the changes since then that concern the gateway, the newest first."""
    faults = (NetworkChange(each.since, render_title(each, gateway), is_fault=True) for each in findings if each.since >= since)
    found = [*faults, *_iter_rollouts(gateway, since), *_iter_moves(gateway, since)]
    return sorted(found, key=lambda each: each.at, reverse=True)[:MOST]


def _iter_rollouts(gateway: Gateway, since: datetime) -> Iterator[NetworkChange]:
    ended = Rollout.objects.filter(group=gateway.group_id, finished__gte=since).select_related("revision").order_by("-finished")[:MOST]
    for rollout in ended:
        if rollout.finished:
            yield NetworkChange(
                rollout.finished,
                _("%(rollout)s: %(state)s") % {"rollout": rollout, "state": rollout.get_state_display()},
                route="deployments:rollout",
                key=rollout.pk,
            )


def _iter_moves(gateway: Gateway, since: datetime) -> Iterator[NetworkChange]:
    for change in CarrierChange.objects.filter(group=gateway.group_id, at__gte=since).order_by("-at")[:MOST]:
        words = _("IPv%(family)d is carried by %(gateways)s") if change.carriers else _("IPv%(family)d is carried by no gateway")
        yield NetworkChange(change.at, words % {"family": change.family, "gateways": ", ".join(change.carriers)}, not change.carriers)
