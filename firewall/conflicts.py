"""A listener must not be where members are: its packets would pass them by, or be theirs and pass uncounted.

Looked at from the listeners, of whom there are few, whatever the number of members.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from firewall.addresses import ipv4_text, ipv6_text
from firewall.diff import ElementChange
from firewall.policy import PolicyError
from firewall.ruleset import Element, Elements
from firewall.sets import length_of

_PROTOCOLS = {6: "tcp", 17: "udp"}
_HELD = "listener on {}: a member holds {}; a listener needs an address outside the members' pools"


@dataclass(frozen=True, slots=True)
class After:
    """Elements as they are after changes, without writing them down."""

    before: Mapping[str, Elements]
    changes: Mapping[str, ElementChange]

    def get(self, name: str, key: bytes) -> Element | None:
        """The element of this key, if the set will have it."""
        change = self.changes.get(name)
        if change and key in change.added:
            return change.added[key]
        return None if change and key in change.removed else self.before.get(name, {}).get(key)

    def all(self, name: str) -> Elements:
        """Everything the set will have; costs what the set does."""
        before, change = self.before.get(name, {}), self.changes.get(name)
        return change.apply(before) if change else before

    def starting(self, start: str) -> Iterator[str]:
        """The names of sets that begin so."""
        return (name for name in dict.fromkeys([*self.before, *self.changes]) if name.startswith(start))


def check(after: After) -> None:
    """Raises PolicyError, naming both, when a listener stands on a forward's public port or on a member's address."""
    for name in ("lst4", *after.starting("guard4_")):
        _beside_forwards(after, name)
    for host in after.all("lst4_hosts"):
        if after.get("up4", host):
            raise PolicyError(_HELD.format(ipv4_text(host), "this address"))
    for host in after.all("lst6_hosts"):
        if prefix := _held6(after, host):
            raise PolicyError(_HELD.format(ipv6_text(host), prefix))


def _beside_forwards(after: After, name: str) -> None:
    for key, listener in after.all(name).items():
        forward = after.get("fwd4", key)
        if forward:
            to = f"{ipv4_text(forward.value[:4])}:{int.from_bytes(forward.value[4:6])}"
            raise PolicyError(f"listener {_place(key, listener)} is also the public side of a forward to {to}; end one of them")


def _place(key: bytes, listener: Element) -> str:
    place = f"{_PROTOCOLS.get(key[4], key[4])} {ipv4_text(key[:4])}:{int.from_bytes(key[8:10])}"
    return f"“{listener.comment}” at {place}" if listener.comment else f"at {place}"


def _held6(after: After, host: bytes) -> str:
    for name in after.starting("up6_"):
        away = 128 - length_of(name)
        start = (int.from_bytes(host) >> away << away).to_bytes(16)
        if after.get(name, start):
            return f"{ipv6_text(start)}/{length_of(name)}"
    return ""
