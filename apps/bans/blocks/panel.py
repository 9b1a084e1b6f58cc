"""Blocks as rows of pages: how each stands on the gateways."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from apps.bans.blocks.models import Block
from apps.lib.activation import Activation, activations
from apps.lib.ui.states import On, Post


@dataclass(frozen=True)
class Row:
    """A block, and since when each gateway has it as it is."""

    block: Block
    gateways: list[Activation]
    now: datetime

    @property
    def over(self) -> bool:
        end = self.block.valid.upper
        return end is not None and end <= self.now

    @property
    def posts(self) -> list[Post]:
        there = On.HOLLOW if self.over else On.FULL
        return [Post(each.gateway, there if each.since else On.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """Gateways that do not have it as it is yet."""
        return [each.gateway for each in self.gateways if not each.since]


def rows(blocks: Iterable[Block]) -> list[Row]:
    """Two queries, however many there are."""
    now = timezone.now()
    return [Row(block, known, now) for block, known in activations(blocks)]
