"""The sets and maps of every ruleset: their names, the types of their elements, and the kinds of objects that these are.

Prefixes lie in one hash set for each length in use, named after their family and that length: "bans4_24"; guarded services in one
for each window scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from firewall.policy import PolicyError
from firewall.ruleset import Set, Type

SMALLEST_SET, LARGEST_SET = 1 << 16, 1 << 24


class ObjectKind(StrEnum):
    """Kinds of objects in a ruleset, in people's words."""

    ADDRESSES = "addresses"
    PREFIXES = "prefixes"
    MAPPINGS = "mappings"
    FORWARDS = "forwards"
    PINHOLES = "pinholes"
    BANS = "bans"
    ALLOWED = "allowed"
    BLOCKS = "blocks"
    LISTENERS = "listeners"
    RATES = "rates"
    RULES = "rules"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class SetFamily:
    """A family of sets with the same types. by_length: it has one set for each prefix length (of guarded services, each window
    scale); otherwise a single set with the family's own name.

    always: the set exists even without elements, so that its first element changes no rule. repeats: the family whose elements this
    one repeats; objects are counted there. within: the family in which an element says all that it says here, and more. beside: the
    first of several families that share their keys, each key in one of them at a time; a key that goes from one to another has
    changed, and is not removed. ranges: a value is the first and the last of a range. follows: a family by length; for each of its
    lengths this family has a set too, so that here too the first element changes no rule. polices: its value is a rate
    (ruleset.Set).
    """

    name: str
    kind: ObjectKind
    key: tuple[Type, ...]
    value: tuple[Type, ...] = ()
    by_length: bool = False
    always: bool = False
    counter: bool = False
    timeout: bool = False
    repeats: str = ""
    within: str = ""
    beside: str = ""
    ranges: bool = False
    follows: str = ""
    polices: bool = False


_PORT_KEY = (Type.IPV4, Type.PROTO, Type.PORT)
_PORT_KEY6 = (Type.IPV6, Type.PROTO, Type.PORT)

FAMILIES = (
    SetFamily("up4", ObjectKind.ADDRESSES, (Type.IPV4,), always=True, counter=True),
    SetFamily("down4", ObjectKind.ADDRESSES, (Type.IPV4,), always=True, counter=True, repeats="up4"),
    SetFamily("up6", ObjectKind.PREFIXES, (Type.IPV6,), by_length=True, counter=True),
    SetFamily("down6", ObjectKind.PREFIXES, (Type.IPV6,), by_length=True, counter=True, repeats="up6"),
    SetFamily("snat4", ObjectKind.MAPPINGS, (Type.IPV4,), (Type.IPV4,), always=True),
    SetFamily("snat4_own", ObjectKind.MAPPINGS, (Type.IPV4,), (Type.IPV4,), always=True, beside="snat4"),
    SetFamily("snat4_block", ObjectKind.MAPPINGS, (Type.IPV4,), (Type.IPV4, Type.PORT), always=True, beside="snat4", ranges=True),
    SetFamily("out4", ObjectKind.MAPPINGS, (Type.IPV4,), always=True, repeats="snat4"),
    SetFamily("out4_block", ObjectKind.MAPPINGS, (Type.IPV4,), always=True, repeats="snat4_block", beside="out4"),
    SetFamily("forward4", ObjectKind.FORWARDS, _PORT_KEY, (Type.IPV4, Type.PORT), always=True),
    SetFamily("pinhole6", ObjectKind.PINHOLES, (Type.IPV6, Type.PROTO, Type.PORT), always=True),
    SetFamily("pinhole_protocol6", ObjectKind.PINHOLES, (Type.IPV6, Type.PROTO), always=True),
    SetFamily("pinhole_host6", ObjectKind.PINHOLES, (Type.IPV6,), always=True),
    SetFamily("bans4", ObjectKind.BANS, (Type.IPV4,), by_length=True, counter=True, timeout=True),
    SetFamily("bans6", ObjectKind.BANS, (Type.IPV6,), by_length=True, counter=True, timeout=True),
    SetFamily("bans_in4", ObjectKind.BANS, (Type.IPV4,), by_length=True, counter=True, timeout=True, within="bans4"),
    SetFamily("bans_in6", ObjectKind.BANS, (Type.IPV6,), by_length=True, counter=True, timeout=True, within="bans6"),
    SetFamily("bans_out4", ObjectKind.BANS, (Type.IPV4,), by_length=True, counter=True, timeout=True, within="bans4"),
    SetFamily("bans_out6", ObjectKind.BANS, (Type.IPV6,), by_length=True, counter=True, timeout=True, within="bans6"),
    SetFamily("allowed4", ObjectKind.ALLOWED, (Type.IPV4,), by_length=True, timeout=True),
    SetFamily("allowed6", ObjectKind.ALLOWED, (Type.IPV6,), by_length=True, timeout=True),
    SetFamily("blocked4", ObjectKind.BLOCKS, (Type.IPV4,), always=True, timeout=True),
    SetFamily("blocked6", ObjectKind.BLOCKS, (Type.IPV6,), by_length=True, timeout=True, follows="up6"),
    SetFamily("tariff_up4", ObjectKind.RATES, (Type.IPV4,), polices=True, timeout=True),
    SetFamily("tariff_down4", ObjectKind.RATES, (Type.IPV4,), polices=True, timeout=True),
    SetFamily("tariff_up6", ObjectKind.RATES, (Type.IPV6,), polices=True, timeout=True, by_length=True),
    SetFamily("tariff_down6", ObjectKind.RATES, (Type.IPV6,), polices=True, timeout=True, by_length=True),
    SetFamily("rate_up4", ObjectKind.RATES, (Type.IPV4,), polices=True, timeout=True),
    SetFamily("rate_down4", ObjectKind.RATES, (Type.IPV4,), polices=True, timeout=True),
    SetFamily("rate_up6", ObjectKind.RATES, (Type.IPV6,), polices=True, timeout=True, by_length=True),
    SetFamily("rate_down6", ObjectKind.RATES, (Type.IPV6,), polices=True, timeout=True, by_length=True),
    SetFamily("listener4", ObjectKind.LISTENERS, _PORT_KEY),
    SetFamily("listener4_hosts", ObjectKind.LISTENERS, (Type.IPV4,), repeats="listener4"),
    SetFamily("listener6", ObjectKind.LISTENERS, _PORT_KEY6),
    SetFamily("guard4", ObjectKind.LISTENERS, _PORT_KEY, by_length=True),
    SetFamily("guard6", ObjectKind.LISTENERS, _PORT_KEY6, by_length=True),
    SetFamily("listener6_hosts", ObjectKind.LISTENERS, (Type.IPV6,), repeats="listener6"),
)
ALWAYS = tuple(family.name for family in FAMILIES if family.always)
_BY_NAME = {family.name: family for family in FAMILIES}


@lru_cache(maxsize=1 << 12)
def find_set_family(name: str) -> SetFamily | None:
    """Return the family of the set of this name; None if it is not one of ours."""
    start, length = split_set_name(name)
    family = _BY_NAME.get(start)
    return family if family and family.by_length == bool(length) else None


def split_set_name(name: str) -> tuple[str, str]:
    """Return the family's part of a set's name and the digits of its prefix length, "" without one: ("bans_in4", "24"),
    ("snat4_block", "").
    """
    start, _, length = name.rpartition("_")
    return (start, length) if length.isdecimal() else (name, "")


def format_set_name(family: str, length: int) -> str:
    """Return the name of the family's set of prefixes of one length."""
    return f"{family}_{length}"


def parse_prefix_length(name: str) -> int:
    """Return the prefix length that a set is named after."""
    return int(name.rpartition("_")[2])


def iter_dependent_sets(name: str) -> Iterator[str]:
    """Yield the sets that exist whenever this one does, though they may be empty."""
    start, length = split_set_name(name)
    return (format_set_name(family.name, int(length)) for family in FAMILIES if family.follows and family.follows == start)


def find_kind(name: str) -> ObjectKind | None:
    """Return the kind of a set's elements; None for a set that repeats another (each member is in an `up` and a `down` set)."""
    family = find_set_family(name)
    return family.kind if family and not family.repeats else None


def get_original_set(name: str) -> str:
    """Return the set that this one repeats, or its own name: a member is in `up4` and again in `down4`."""
    family = find_set_family(name)
    return family.repeats + name.removeprefix(family.name) if family and family.repeats else name


def find_covering_set(name: str) -> str:
    """Return the set in which an element says all that it says in this one, and more: bans4_24 for bans_in4_24. "" when there is none."""
    family = find_set_family(name)
    return family.within + name.removeprefix(family.name) if family and family.within else ""


def list_alternative_sets(name: str) -> tuple[str, ...]:
    """Return the other sets that share this one's keys, each key in one of them at a time."""
    family = find_set_family(name)
    if family is None or family.by_length:
        return ()
    first = family.beside or family.name
    return tuple(each.name for each in FAMILIES if first in (each.name, each.beside) and each.name != name)


def declare(name: str, count: int) -> Set:
    """Return the declaration of a set with room for `count` elements; its size changes rarely, because a new size empties its counters.

    Raises PolicyError for a name that no ruleset has, and for more elements than LARGEST_SET, which would take the kernel too long.
    """
    family = find_set_family(name)
    if family is None:
        raise PolicyError(f"set {name}: unknown name of a set")
    size = SMALLEST_SET
    while size < count:
        size *= 4
    if size > LARGEST_SET:
        raise PolicyError(f"set {name}: {count} elements are more than {LARGEST_SET}")
    return Set(name, family.key, size, family.value, family.counter, family.timeout, family.ranges, polices=family.polices)
