"""Devices with their current addresses: the source of the DHCP, DNS and RADIUS exports.

Reads active members and their current holdings; returns values ordered by address, so that the same rows give the same bytes.
Memory: BATCH holdings and the devices of their members.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import batched, chain, count
from typing import Any

from django.db.models import Count, QuerySet

from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Prefix
from apps.members.models import Device, Member
from apps.network.models import Holding, Pool

BATCH = 2000
LONGEST = 63  # octets in a DNS label (RFC 1035, section 2.3.4)
_COLUMNS = ("member_id", "member__number", "device_id", "prefix")
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class ExportDevice:
    """A device: the name its member gave it, its MAC address, and a DNS label that is unique among the member's devices."""

    name: str
    mac: str
    label: str


@dataclass(frozen=True, slots=True)
class ExportHost:
    """An address or prefix, the number of the member who holds it, and its device; None if the device is unknown."""

    member: int
    prefix: Prefix
    card: ExportDevice | None

    @property
    def member_label(self) -> str:
        """The member's DNS label: made of the number, never of the member's name."""
        return f"m-{self.member}"


def list_source_rows() -> list[QuerySet[Any, Any]]:
    """Return querysets of all rows that this module reads, for the ETag."""
    devices = Device.objects.filter(member__state=Member.State.ACTIVE).values_list("pk", "member_id", "name", "mac")
    return [_list_holdings().values_list("pk", *_COLUMNS), devices, Pool.objects.values_list("pk", "kind", "prefix")]


def iter_hosts(kind: str, pool: Pool | None = None, within: Prefix | None = None) -> Iterator[ExportHost]:
    """Yield hosts by address: all of a kind, or those of a pool, or of a part of it.

    A holding without a device is assigned to the member's only device, if the member has one device and one holding of the kind.
    """
    held = _list_holdings().filter(kind=kind)
    chosen = held.filter(pool=pool) if pool else held
    chosen = chosen.filter(prefix__within=within) if within else chosen
    columns = chosen.order_by("prefix").values_list(*_COLUMNS)
    for batch in batched(columns.iterator(chunk_size=BATCH), BATCH):
        members = {member for member, *_rest in batch}
        cards = _group_devices(members)
        held_by = dict(held.filter(member__in=members).order_by().values_list("member_id").annotate(number=Count("pk")))
        for member, number, device, prefix in batch:
            mine = cards.get(member, {})
            alone = next(iter(mine.values())) if len(mine) == 1 and held_by.get(member) == 1 else None
            yield ExportHost(number, prefix, mine.get(device) if device else alone)


def group_prefixes_by_mac(pool: Pool) -> dict[str, list[Prefix]]:
    """Return a device's prefixes in the pool by MAC address, ordered by address, for devices with more than one."""
    held = _list_holdings().filter(pool=pool, device__isnull=False).order_by("prefix")
    many = held.order_by().values("device").annotate(number=Count("pk")).filter(number__gt=1).values("device")
    found: dict[str, list[Prefix]] = {}
    for mac, prefix in held.filter(device__in=many).values_list("device__mac", "prefix"):
        found.setdefault(mac, []).append(prefix)
    return found


def _list_holdings() -> QuerySet[Holding]:
    return Holding.objects.filter(is_valid_now(), member__state=Member.State.ACTIVE)


def iter_devices() -> Iterator[tuple[int, ExportDevice]]:
    """Yield every device of active members with the member's number, ordered by the device's id."""
    rows = Device.objects.filter(member__state=Member.State.ACTIVE).order_by("pk")
    for batch in batched(rows.values_list("pk", "member_id", "member__number").iterator(chunk_size=BATCH), BATCH):
        known = _group_devices({member for _pk, member, _number in batch})
        yield from ((number, known[member][pk]) for pk, member, number in batch if pk in known.get(member, {}))


def _group_devices(members: set[int]) -> dict[int, dict[int, ExportDevice]]:
    """Return the members' devices by member id and device id."""
    found: dict[int, dict[int, ExportDevice]] = {}
    rows = Device.objects.filter(member__in=members).order_by("member", "pk").values_list("member_id", "pk", "name", "mac")
    for member, pk, name, mac in rows:
        mine = found.setdefault(member, {})
        mine[pk] = ExportDevice(name, mac, _make_unique_label(make_dns_label(name), pk, [card.label for card in mine.values()]))
    return found


def _make_unique_label(wanted: str, pk: int, taken: Sequence[str]) -> str:
    """Return the label, with the device's id appended if another device of the member has it, and a number too if that is also taken."""
    if wanted not in taken:
        return wanted
    endings = chain([f"-{pk}"], (f"-{pk}-{number}" for number in count(2)))
    longer = (wanted[: LONGEST - len(ending)].rstrip("-") + ending for ending in endings)
    return next(each for each in longer if each not in taken)


def make_dns_label(name: str) -> str:
    """Return a name as a DNS label of letters, digits and hyphens (RFC 1123, section 2.1).

    “Küche 2” becomes kueche-2; a name without any of these characters becomes device.
    """
    plain = unicodedata.normalize("NFKD", name.lower().translate(_GERMAN)).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain).strip("-")[:LONGEST].rstrip("-") or "device"
