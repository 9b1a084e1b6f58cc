"""What a kind of object has to define so that its rows are deployed: values, without a database.

`registry.KINDS` lists the kinds. Everything else about an object (its model, service, pages, API) is in the object's own app.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Any, Final, NamedTuple

from django.utils.functional import Promise

from apps.accounts.models import User
from apps.lib.fields import Address, Prefix
from apps.lib.models import Deployed
from firewall.addresses import format_ipv4, format_ipv6
from firewall.policy import TouchedKeys
from firewall.ruleset import Element, Set
from firewall.sets import ObjectKind, parse_prefix_length
from firewall.tracing.fields import unpack_values
from firewall.tracing.result import Reading

MOST_TOUCHED: Final = 4000  # objects to look up; beyond this number, reading everything is as fast
PROTOCOLS: Final = {6: "TCP", 17: "UDP"}

# Most prefixes were read before, so that a feed's hundred thousand are parsed only once.
parse_network = lru_cache(maxsize=1 << 20)(ip_network)


# --- From rows to the policy


class ObjectReader(NamedTuple):
    """Reader of one field of a policy.

    query: reads all objects of a %(group)s at a time %(at)s, with a placeholder {only} for the restriction to touched objects;
    %(second)s: the beginning of that time's second.
    only: that restriction, in SQL. parameters: of the restriction, from the touched keys; all empty when none were touched. value:
    builds a value from a row.
    """

    query: str
    only: str
    parameters: Callable[[TouchedKeys], dict[str, list[Any]]]
    value: Callable[..., object]


class ChangeNoteFormat(NamedTuple):
    """How notes of changes (deployments_touched) name the objects of a kind.

    note: kind of note; field: of TouchedKeys; parse: keys in the text of a note. follows: "holding" or "list" if changes of those touch
    the objects too; query: then finds the texts from the ids of those, %s.
    """

    note: str
    field: str
    parse: Callable[[str], Iterable[Any]]
    follows: str = ""
    query: str = ""


class TimedRows(NamedTuple):
    """A table of which rows begin or end by time alone. note: kind of the change note that such a moment causes; text: SQL of its text.

    column: `valid`, a range, or `expires`. stays: True if the gateways do not end such an element by themselves, so that its end
    makes a rollout due.
    """

    note: str
    text: str
    table: str
    column: str = "valid"
    stays: bool = False


# --- Removals that wait for approval


@dataclass(frozen=True, slots=True)
class AffectedThing:
    """One thing that would be removed: its display text, and the member's or banned address or prefix that it concerns.

    key: identifies it within its kind. number: how many elements it consists of, such as the ports of a range. protocol, port: of
    a forward, the first public port.
    """

    words: str
    prefix: str
    key: str
    public: str = ""
    number: int = 1
    protocol: str = ""
    port: int = 0


class RemovedElement(NamedTuple):
    """An element of a held-back removal. set: the name of its set; length: the prefix length in that name, "" if there is none."""

    set: str
    length: str
    key: bytes
    value: bytes
    comment: str

    @property
    def address(self) -> str:
        """The address that the key begins with."""
        return format_ipv4(self.key) if len(self.key) == 4 else format_ipv6(self.key)


def build_affected_prefix(element: RemovedElement) -> AffectedThing:
    """Build the thing of an element whose key is an address or a prefix."""
    prefix = f"{element.address}/{element.length or '32'}"
    shown = prefix.removesuffix("/32" if len(element.key) == 4 else "/128")
    return AffectedThing(f"{shown} ({element.comment})" if element.comment else shown, prefix, prefix)


class AuthorHistory(NamedTuple):
    """History of rows whose authors may have asked for a removal. joined: `thing` or `held`, which the condition relates to `event`."""

    joined: str
    table: str
    condition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalDefinition:
    """How a removal is shown while it waits for approval, who may have asked for it, and how it is undone.

    history: kind of the rows on the history page. label: what happens to a number of elements; sentence: what that many members lose,
    or, without of_members, how many things end. holding_operator: SQL, between a holding's prefix and the
    thing's. undo: what a refusal does.
    restore: restores the rows of a thing, or raises Problem.
    """

    history: str
    label: Callable[[int], str]
    sentence: Callable[[int], str]
    undo: Promise
    sources: tuple[AuthorHistory, ...]
    restore: Callable[[AffectedThing, User], None]
    of_members: bool = True
    holding_operator: str = "="


# --- From elements back to rows


@dataclass(frozen=True, slots=True)
class ElementOrigin:
    """The object behind an element. kind: an identifier for programs; name: its title; note: who, why, until when; url: its page.

    anonymous: the name without any hint at a member; "" if the object belongs to none.
    """

    kind: str
    name: str
    note: str = ""
    url: str = ""
    anonymous: str = field(default="", compare=False)

    def without_member(self) -> "ElementOrigin":
        """Return the same without any hint at the member; objects of the network itself are unchanged."""
        return ElementOrigin(self.kind, self.anonymous) if self.anonymous else self


@dataclass(frozen=True, slots=True)
class SetElement:
    """An element of a set at a moment."""

    declaration: Set
    key: bytes
    element: Element
    at: datetime

    @property
    def keys(self) -> tuple[Reading, ...]:
        """The fields of its key."""
        return unpack_values(self.declaration.key, self.key)

    @property
    def address(self) -> Address:
        """The address that its key begins with."""
        first = self.keys[0]
        if not isinstance(first, IPv4Address | IPv6Address):
            raise TypeError(f"{first!r} is not an address")
        return first

    @property
    def prefix(self) -> Prefix:
        """The prefix that its key is in a set of one length."""
        return ip_network((self.address, parse_prefix_length(self.declaration.name)))


def parse_row_ids(found: SetElement, label: str) -> list[int]:
    """Return the id in a comment such as “block 12”; none if the comment is another."""
    number = found.element.comment.removeprefix(f"{label} ")
    return [int(number)] if number.isdecimal() else []


# --- All of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """A kind of object that reaches the gateways.

    name: head of a row; count: text such as “12 bans”, with %(n)s for the number. readers: by field of the policy. build_thing: what an
    element is. row_keys: by model, the key of a row's AffectedThing, "" if it has none. list_origins: the rows behind an element.
    removal: None if removing such objects takes no service away.
    """

    kind: ObjectKind
    name: Promise
    count: Callable[[int], str]
    readers: Mapping[str, ObjectReader]
    list_origins: Callable[[SetElement], list[ElementOrigin]]
    notes: tuple[ChangeNoteFormat, ...] = ()
    timed: tuple[TimedRows, ...] = ()
    build_thing: Callable[[RemovedElement], AffectedThing] = build_affected_prefix
    row_keys: Mapping[type[Deployed], Callable[[Any], str]] = field(default_factory=dict)
    removal: RemovalDefinition | None = None
