"""Rows of blocks for pages, with their state on the gateways."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from apps.bans.blocks.models import Block
from apps.lib.activation import Activation, list_activations
from apps.lib.ui.states import GatewaySymbol, SymbolState


@dataclass(frozen=True)
class BlockRow:
    """A block, and since when each gateway has its present version."""

    block: Block
    gateways: list[Activation]
    now: datetime

    @property
    def is_over(self) -> bool:
        end = self.block.valid.upper
        return end is not None and end <= self.now

    @property
    def posts(self) -> list[GatewaySymbol]:
        there = SymbolState.HOLLOW if self.is_over else SymbolState.FULL
        return [GatewaySymbol(each.gateway, there if each.since else SymbolState.HALF) for each in self.gateways]

    @property
    def waits_for(self) -> list[str]:
        """The gateways that do not have the block's present version yet."""
        return [each.gateway for each in self.gateways if not each.since]


def build_block_rows(blocks: Iterable[Block]) -> list[BlockRow]:
    """Return the blocks as rows, in two queries, whatever their number."""
    now = timezone.now()
    return [BlockRow(block, known, now) for block, known in list_activations(blocks)]
