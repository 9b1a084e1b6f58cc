"""Objects that a gateway has and the database lacks, as JSON data: stored by a worker, named later in the language of who reads them."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from firewall.codec import decode, encode
from firewall.object_differences import ObjectDifference
from firewall.policy import (
    AllowEntrySpec,
    BanSpec,
    BlockedMemberSpec,
    ForwardSpec,
    NatMappingSpec,
    PinholeSpec,
    PrefixOwner,
    RateLimitSpec,
    ServerListenerSpec,
)
from firewall.running_objects import RunningObject
from firewall.sets import ObjectKind

MOST_STORED: Final = 50  # of one gateway

_SPECS: Final[Mapping[ObjectKind, type]] = {
    ObjectKind.ADDRESSES: PrefixOwner,
    ObjectKind.PREFIXES: PrefixOwner,
    ObjectKind.MAPPINGS: NatMappingSpec,
    ObjectKind.FORWARDS: ForwardSpec,
    ObjectKind.PINHOLES: PinholeSpec,
    ObjectKind.BANS: BanSpec,
    ObjectKind.ALLOWED: AllowEntrySpec,
    ObjectKind.BLOCKS: BlockedMemberSpec,
    ObjectKind.LISTENERS: ServerListenerSpec,
    ObjectKind.RATES: RateLimitSpec,
}


def pack_differences(differences: Iterable[ObjectDifference]) -> dict[str, Any]:
    """Return the columns of a RestoreDifference: the first of the objects that the gateway has, and the number of all."""
    found = [each for each in differences if each.running]
    return {"objects_found": [list(map(_pack, each)) for each in found[:MOST_STORED]], "object_count": len(found)}


def _pack(each: RunningObject | None) -> dict[str, Any] | None:
    return each and {"kind": each.kind.value, "is_tariff": each.is_tariff, "spec": encode(each.spec)}


def unpack_differences(stored: Iterable[Iterable[dict[str, Any] | None]]) -> list[ObjectDifference]:
    """Return the differences that were packed."""
    return [ObjectDifference(*map(_unpack, each)) for each in stored]


def _unpack(packed: dict[str, Any] | None) -> RunningObject | None:
    if packed is None:
        return None
    kind = ObjectKind(packed["kind"])
    return RunningObject(kind, decode(_SPECS[kind], packed["spec"], "object"), packed["is_tariff"])
