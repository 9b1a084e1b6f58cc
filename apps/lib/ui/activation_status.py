"""A thing and how it stands on its gateways: what rows of pages show of it, and how often a page looks again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.lib.activation import Activation, list_activations
from apps.lib.models import Deployed
from apps.lib.ui.states import GatewayPost, PostState

NEWS = "netzwart:news"
"""What fires on an element when something happens that it watches (static/netzwart/live.js)."""


@dataclass(frozen=True)
class ActivationStatus[Thing: Deployed]:
    """A thing, and since when each gateway has it as it is."""

    thing: Thing
    gateways: list[Activation]

    @property
    def posts(self) -> list[GatewayPost]:
        """The pair: while a change is under way, half; of what is switched off, hollow."""
        there = PostState.FULL if getattr(self.thing, "enabled", True) else PostState.HOLLOW
        return [GatewayPost(each.gateway, there if each.since else PostState.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have it yet."""
        return [each.gateway for each in self.gateways if not each.since]

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation; None while one is missing."""
        times = [each.since for each in self.gateways if isinstance(each.since, datetime)]
        if not times or self.waits_for:
            return None
        return max(0.0, (max(times) - self.thing.changed_at).total_seconds())


def list_activation_statuses[Thing: Deployed](things: Iterable[Thing]) -> list[ActivationStatus[Thing]]:
    """Each thing with its gateways, in a constant number of queries."""
    return [ActivationStatus(thing, known) for thing, known in list_activations(things)]


def build_poll_trigger(rows: Sequence[ActivationStatus[Deployed]]) -> str:
    """When a panel looks again: often while gateways are at it, now and then while it waits for somebody, and at news in any case."""
    missing = [each for row in rows for each in row.gateways if not each.since]
    if not missing:
        return NEWS
    return f"every {'5s' if all(each.waits and each.waits.person for each in missing) else '500ms'}, {NEWS}"
