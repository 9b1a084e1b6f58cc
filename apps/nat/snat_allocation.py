"""Allocates places for source NAT: addresses of a public pool that are free for one member alone, and free blocks of ports."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from django.db import connection
from psycopg.types.range import Int4Range, Range

from apps.lib.database.validity import is_valid_now, is_valid_now_or_later
from apps.lib.fields import Address
from apps.members.models import Member
from apps.nat.models import NatMapping, PortClaim
from apps.network.models import ALL_PORTS, Gateway, Pool, compute_first_block_port

MOST_SHARED = 1024  # addresses of a shared pool that are considered
MAX_SEARCHED_ADDRESSES = 65536

# The pool's addresses, except the network address, the broadcast address, and those of the gateways' probes.
ADDRESSES = """
    SELECT host(p.prefix)::inet + n AS address FROM network_pool p
    CROSS JOIN LATERAL generate_series(0, least((2 ^ (32 - masklen(p.prefix)))::bigint, %(most)s) - 1) AS n
    WHERE p.id = %(pool)s AND (masklen(p.prefix) > 30 OR (n > 0 AND n < (2 ^ (32 - masklen(p.prefix)))::bigint - 1))
        AND NOT EXISTS (SELECT FROM network_gateway WHERE retired IS NULL AND probe_public4 = host(p.prefix)::inet + n)
"""
# The first own address or block that no other member claims.
FREE = f"""
    SELECT host(address), port FROM ({ADDRESSES}) a CROSS JOIN generate_series(%(first)s, {ALL_PORTS} - %(size)s, %(size)s) AS port
    WHERE (%(public)s IS NULL OR address = %(public)s::inet) AND NOT EXISTS (
        SELECT FROM nat_portclaim c WHERE c.public = address AND c.ports && int4range(port, port + %(size)s)
            AND c.member_id <> %(member)s AND c.valid && tstzrange(statement_timestamp(), NULL))
    ORDER BY address, port LIMIT 1
"""  # noqa: S608 - constants
LEAST_USED = f"""
    SELECT host(address) FROM ({ADDRESSES}) a
    LEFT JOIN (SELECT public, count(*) AS users FROM nat_natmapping WHERE valid @> statement_timestamp() GROUP BY public) used
        ON used.public = address
    ORDER BY coalesce(users, 0), address LIMIT 1
"""  # noqa: S608 - constants


@dataclass(frozen=True, slots=True)
class SnatPlace:
    """A public address, and with blocks the member's ports of it."""

    public: Address
    block: Range[int] | None = None

    @property
    def first_port(self) -> int:
        """First port of the block; 0 without one."""
        return (self.block.lower or 0) if self.block else 0

    @property
    def ports(self) -> str:
        """The block as “32768–33791”; "" without a block."""
        return f"{self.block.lower}–{self.block.upper - 1}" if self.block and self.block.upper else ""


def get_block_size(pool: Pool) -> int:
    """Return how many ports of an address belong to one member alone; of an own address, all."""
    return pool.block_size or ALL_PORTS


def find_snat_place(pool: Pool, member: Member, public: Address | None = None) -> SnatPlace | None:
    """Return the member's current place in this pool (or on this address of it), or else the next free place. None: the pool is full.

    In a shared pool it is this address, or the least used one. A retired pool has no free place.
    """
    if pool.retired:
        return _find_current_place(pool, member, public)
    if pool.sharing == Pool.Sharing.SHARED:
        return SnatPlace(public) if public else _find_least_used(pool)
    mine = _find_current_place(pool, member, public)
    if mine:
        return mine
    size = get_block_size(pool)
    where = {"pool": pool.pk, "most": MAX_SEARCHED_ADDRESSES, "size": size, "first": compute_first_block_port(size), "member": member.pk}
    found = _fetch_row(FREE, {**where, "public": str(public) if public else None})
    return _build_place(IPv4Address(found[0]), found[1], size) if found else None


def _build_place(public: Address, port: int, size: int) -> SnatPlace:
    return SnatPlace(public, None if size == ALL_PORTS else Int4Range(port, port + size))


def _find_current_place(pool: Pool, member: Member, public: Address | None) -> SnatPlace | None:
    has = NatMapping.objects.filter(is_valid_now(), pool=pool, holding__member=member, sharing=pool.sharing)
    for mapping in has.filter(public=public) if public else has:
        if mapping.block is None or mapping.block.upper - mapping.block.lower == pool.block_size:
            return SnatPlace(mapping.public, mapping.block)
    return None


def _find_least_used(pool: Pool) -> SnatPlace | None:
    found = _fetch_row(LEAST_USED, {"pool": pool.pk, "most": MOST_SHARED})
    return SnatPlace(IPv4Address(found[0])) if found else None


def _fetch_row(query: str, parameters: Mapping[str, int | str | None]) -> tuple[str, int] | None:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        found: tuple[str, int] | None = cursor.fetchone()
    return found


def list_source_pools(group: int) -> list[Pool]:
    """Return the group's public pools: first those with own addresses, then with blocks, then shared ones."""
    pools = Pool.objects.filter(group=group, kind=Pool.Kind.PUBLIC4).order_by("prefix")
    order = [Pool.Sharing.OWN, Pool.Sharing.BLOCKS, Pool.Sharing.SHARED]
    return sorted(pools, key=lambda pool: order.index(Pool.Sharing(pool.sharing)))


class SnatAllocator:
    """Allocates new places of a pool for all members who leave from it. Only ports that port forwards claim count as taken.

    beside_mappings: allocates for further members; what current mappings claim counts as taken, too.
    """

    def __init__(self, pool: Pool, *, beside_mappings: bool = False) -> None:
        self._size = get_block_size(pool)
        self._addresses = list(iter_usable_addresses(pool))
        self._known = set(self._addresses)
        self._claimed: dict[Address, dict[int, tuple[int, ...]]] = {}
        self._taken: set[tuple[Address, int]] = set()
        self._next = dict.fromkeys(self._addresses, compute_first_block_port(self._size))
        self._at = 0
        claims = PortClaim.objects.filter(is_valid_now_or_later(), public__within=pool.prefix)
        wanted = claims if beside_mappings else claims.filter(forward_id__isnull=False)
        for public, ports, member in wanted.values_list("public", "ports", "member_id").iterator():
            self._note_claim(public, ports, member)

    def _note_claim(self, public: Address, ports: Range[int], member: int) -> None:
        whose = self._claimed.setdefault(public, {})
        for number in range((ports.lower or 0) // self._size, ((ports.upper or ALL_PORTS) - 1) // self._size + 1):
            others = whose.get(number * self._size, ())
            if member not in others:
                whose[number * self._size] = (*others, member)

    def take(self, member: int, preferred: Iterable[Address]) -> SnatPlace | None:
        """Take a place that no other member has, preferably on one of these addresses. None when the pool is full."""
        for address in preferred:
            if address in self._known and (place := self._take_on(address, member)):
                return place
        while self._at < len(self._addresses):
            if place := self._take_on(self._addresses[self._at], member):
                return place
            self._at += 1
        return None

    def take_place_on_address(self, address: Address, member: int) -> SnatPlace | None:
        """Take a place on this address. None if nothing is free there."""
        return self._take_on(address, member) if address in self._known else None

    def _take_on(self, address: Address, member: int) -> SnatPlace | None:
        port = self._find_own_block(address, member)
        if port is None:
            port = self._find_untouched_block(address)
        if port is None:
            return None
        self._taken.add((address, port))
        return _build_place(address, port, self._size)

    def _find_own_block(self, address: Address, member: int) -> int | None:
        """Return the first port of a free place that contains claims of this member's forwards, and of no other's."""
        least = compute_first_block_port(self._size)
        for port, whose in self._claimed.get(address, {}).items():
            if whose == (member,) and port >= least and (address, port) not in self._taken:
                return port
        return None

    def _find_untouched_block(self, address: Address) -> int | None:
        claimed = self._claimed.get(address, {})
        for port in range(self._next[address], ALL_PORTS, self._size):
            if port not in claimed and (address, port) not in self._taken:
                self._next[address] = port + self._size
                return port
        self._next[address] = ALL_PORTS
        return None


def iter_usable_addresses(pool: Pool) -> Iterator[Address]:
    """Yield the pool's addresses, except the network address, the broadcast address, and those of the gateways' probes."""
    probes = set(Gateway.objects.exclude(probe_public4=None).values_list("probe_public4", flat=True))
    hosts = pool.prefix if pool.prefix.prefixlen > 30 else pool.prefix.hosts()
    return (address for address in hosts if address not in probes)
