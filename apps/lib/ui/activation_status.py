"""Activation status of rows on pages, and the interval at which a page refreshes it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.lib.activation import Activation, list_activations
from apps.lib.models import Deployed
from apps.lib.ui.states import GatewaySymbol, SymbolState

NEWS = "netzwart:news"
"""Event on an element when something happens that it watches (static/netzwart/live.js)."""


@dataclass(frozen=True)
class RowActivations[Thing: Deployed]:
    """A row with its activations on all gateways."""

    thing: Thing
    gateways: list[Activation]

    @property
    def posts(self) -> list[GatewaySymbol]:
        """The gateway pair: half while a change is in progress, hollow if the row is switched off."""
        there = SymbolState.FULL if getattr(self.thing, "enabled", True) else SymbolState.HOLLOW
        return [GatewaySymbol(each.gateway, there if each.since else SymbolState.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have the row yet."""
        return [each.gateway for each in self.gateways if not each.since]

    @property
    def took(self) -> float | None:
        """Seconds from saving to the last gateway's confirmation; None while one is missing."""
        times = [each.since for each in self.gateways if isinstance(each.since, datetime)]
        if not times or self.waits_for:
            return None
        return max(0.0, (max(times) - self.thing.changed_at).total_seconds())


def list_activation_statuses[Thing: Deployed](things: Iterable[Thing]) -> list[RowActivations[Thing]]:
    """Return the status of each row, in a constant number of queries."""
    return [RowActivations(thing, known) for thing, known in list_activations(things)]


def build_poll_trigger(rows: Sequence[RowActivations[Deployed]]) -> str:
    """Return the HTMX trigger that refreshes a panel.

    Always at news; every 500 ms while gateways lack a row; every 5 s if all of these wait for a person.
    """
    missing = [each for row in rows for each in row.gateways if not each.since]
    if not missing:
        return NEWS
    return f"every {'5s' if all(each.waits and each.waits.person for each in missing) else '500ms'}, {NEWS}"
