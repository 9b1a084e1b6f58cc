"""Listeners as rows of pages: how each stands on the gateways."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.bans.listeners.models import Listener
from apps.lib.activation import Activation, activations
from apps.lib.states import On, Post


@dataclass(frozen=True)
class Row:
    """A listener, and since when each gateway of its group has it as it is."""

    listener: Listener
    gateways: list[Activation]

    @property
    def posts(self) -> list[Post]:
        there = On.FULL if self.listener.enabled else On.HOLLOW
        return [Post(each.gateway, there if each.since else On.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have it as it is yet."""
        return [each.gateway for each in self.gateways if not each.since]


def rows(listeners: Iterable[Listener]) -> list[Row]:
    """Two queries, however many there are."""
    return [Row(listener, known) for listener, known in activations(listeners)]
