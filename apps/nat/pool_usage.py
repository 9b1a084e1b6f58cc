"""How full public pools with port blocks are: blocks in use, and how many members can still be added."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from apps.nat.snat_allocation import MAX_SEARCHED_ADDRESSES, iter_usable_addresses
from apps.network.models import Pool, compute_first_block_port, count_port_blocks

# Blocks that some claim overlaps: of a member's mapping, or of a forward, whose member alone may get that block.
USED = """
    SELECT count(DISTINCT (c.public, number)) FROM nat_portclaim c
    CROSS JOIN LATERAL generate_series(
        greatest(coalesce(lower(c.ports), 0), %(first)s) / %(size)s, (coalesce(upper(c.ports), 65536) - 1) / %(size)s
    ) AS number
    WHERE c.public <<= %(prefix)s::inet AND c.valid && tstzrange(statement_timestamp(), NULL)
"""


@dataclass(frozen=True)
class BlockUsage:
    """A pool's blocks: how many there are, and how many nobody has a claim on. Each member needs one."""

    pool: Pool
    blocks: int
    free: int

    @property
    def share(self) -> float:
        """Part of the blocks that is in use, 0 to 1."""
        return 1 - self.free / self.blocks if self.blocks else 1.0


def list_block_usages(pools: Iterable[Pool]) -> list[BlockUsage]:
    """Return the usage of each of these pools that gives blocks, in their order. One query for each such pool, of which there are few."""
    giving = (each for each in pools if (each.kind, each.sharing) == (Pool.Kind.PUBLIC4, Pool.Sharing.BLOCKS) and each.retired is None)
    return [_measure_blocks(pool, pool.block_size) for pool in giving if pool.block_size]


def _measure_blocks(pool: Pool, size: int) -> BlockUsage:
    addresses = min(sum(1 for _address in iter_usable_addresses(pool)), MAX_SEARCHED_ADDRESSES)
    blocks = addresses * count_port_blocks(size)
    with connection.cursor() as cursor:
        cursor.execute(USED, {"size": size, "first": compute_first_block_port(size), "prefix": str(pool.prefix)})
        used = int(cursor.fetchone()[0])
    return BlockUsage(pool, blocks, max(0, blocks - used))
