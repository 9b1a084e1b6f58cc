"""Rows of the database that objects of a gateway belong to: holders of addresses, pools, lists. Read in a few queries for all objects."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from ipaddress import IPv6Address, ip_network

from apps.bans.models import BanList
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Address, Prefix
from apps.members.models import Tariff
from apps.network.models import GatewayGroup, Holding, Pool
from firewall.object_differences import ObjectDifference
from firewall.policy import AllowEntrySpec, BanSpec, ForwardSpec, NatMappingSpec, PinholeSpec, PrefixOwner, ServerListenerSpec
from firewall.running_objects import PolicyObject

_AT_ONCE = 5000  # prefixes in one query


class KnownRows:
    """What the database knows of the objects that a group's gateways have and it lacks."""

    def __init__(self, group: GatewayGroup, differences: Sequence[ObjectDifference]) -> None:
        self.group = group
        self._specs = [each.running.spec for each in differences if each.running]

    def find_holding(self, held: Address | Prefix) -> Holding | None:
        """Return the holding, now, of the address or prefix, or of the prefix around an IPv6 address."""
        return next((self._holdings[each] for each in self._iter_candidates(held) if each in self._holdings), None)

    def find_holding_by_id(self, pk: int) -> Holding | None:
        """Return the holding that an element counts for, whether it is over or not."""
        return self._owners.get(pk)

    def find_pool(self, held: Address | Prefix) -> Pool | None:
        """Return the pool that gives such addresses to members."""
        prefix = ip_network(held)
        return next((each for each in self._pools if each.prefix.version == prefix.version and prefix.subnet_of(each.prefix)), None)

    @cached_property
    def ban_list(self) -> BanList | None:
        """The first list that people fill, not a feed: where a ban is entered unless a person knows better."""
        return BanList.objects.filter(feed=None, enabled=True).order_by("name", "pk").first()

    @cached_property
    def tariffs(self) -> dict[int, Tariff]:
        """All tariffs, by id."""
        return Tariff.objects.in_bulk()

    @cached_property
    def _pools(self) -> list[Pool]:
        return list(Pool.objects.filter(group=self.group).exclude(kind=Pool.Kind.PUBLIC4).order_by("prefix"))

    @cached_property
    def _owners(self) -> dict[int, Holding]:
        wanted = {each.holding for each in self._specs if isinstance(each, PrefixOwner)}
        return Holding.objects.select_related("member").in_bulk(wanted)

    @cached_property
    def _holdings(self) -> dict[Prefix, Holding]:
        wanted = sorted({each for spec in self._specs for held in _list_held(spec) for each in self._iter_candidates(held)}, key=str)
        rows = Holding.objects.filter(is_valid_now(), group=self.group).select_related("member")
        parts = (wanted[at : at + _AT_ONCE] for at in range(0, len(wanted), _AT_ONCE))
        return {row.prefix: row for part in parts for row in rows.filter(prefix__in=part)}

    def _iter_candidates(self, held: Address | Prefix) -> Iterator[Prefix]:
        """Yield the prefixes that a holding of this may have: around an IPv6 address, one of each length that the pools give."""
        if isinstance(held, IPv6Address):
            yield from (ip_network((held, length), strict=False) for length in self._lengths)
        else:
            yield ip_network(held)

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({pool.member_length for pool in self._pools if pool.prefix.version == 6})


def _list_held(spec: PolicyObject) -> tuple[Address | Prefix, ...]:
    """Return the member's address or prefix that an object belongs to, if it belongs to any."""
    match spec:
        case ForwardSpec(private=private) | NatMappingSpec(private=private):
            return (private,)
        case PinholeSpec(hole=hole):
            return (hole.address,)
        case BanSpec() | AllowEntrySpec() | ServerListenerSpec():
            return ()
    return (spec.prefix,)
