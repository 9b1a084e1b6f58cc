"""Check that no listener stands where members are: packets would bypass a forward, or be a member's own and pass uncounted.

The check starts from the listeners, which are few, whatever the number of members.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from firewall.addresses import format_ipv4, format_ipv6
from firewall.diff import ElementChange
from firewall.policy import PolicyError
from firewall.ruleset import Element, Elements
from firewall.sets import parse_prefix_length

_PROTOCOLS = {6: "tcp", 17: "udp"}
_ADDRESS_HELD_BY_MEMBER = "listener on {}: a member holds {}; a listener needs an address outside the members' pools"


@dataclass(frozen=True, slots=True)
class ElementsAfter:
    """A view of the elements after changes, which does not build the changed mappings."""

    before: Mapping[str, Elements]
    changes: Mapping[str, ElementChange]

    def find_element(self, name: str, key: bytes) -> Element | None:
        """Return the element of this key, None if the set will not have it."""
        change = self.changes.get(name)
        if change and key in change.added:
            return change.added[key]
        return None if change and key in change.removed else self.before.get(name, {}).get(key)

    def get_elements(self, name: str) -> Elements:
        """Return all elements that the set will have; the cost grows with the set."""
        before, change = self.before.get(name, {}), self.changes.get(name)
        return change.apply(before) if change else before

    def iter_set_names(self, start: str) -> Iterator[str]:
        """Yield the names of the sets that begin with `start`."""
        return (name for name in dict.fromkeys([*self.before, *self.changes]) if name.startswith(start))


def check_listener_conflicts(after: ElementsAfter) -> None:
    """Raise PolicyError, naming both, when a listener stands on a forward's public port or on a member's address."""
    for name in ("listener4", *after.iter_set_names("guard4_")):
        _check_forwards(after, name)
    for host in after.get_elements("listener4_hosts"):
        if after.find_element("up4", host):
            raise PolicyError(_ADDRESS_HELD_BY_MEMBER.format(format_ipv4(host), "this address"))
    for host in after.get_elements("listener6_hosts"):
        if prefix := _find_prefix_holding(after, host):
            raise PolicyError(_ADDRESS_HELD_BY_MEMBER.format(format_ipv6(host), prefix))


def _check_forwards(after: ElementsAfter, name: str) -> None:
    for key, listener in after.get_elements(name).items():
        forward = after.find_element("forward4", key)
        if forward:
            to = f"{format_ipv4(forward.value[:4])}:{int.from_bytes(forward.value[4:6])}"
            raise PolicyError(f"listener {_describe_listener(key, listener)} is also the public side of a forward to {to}; end one of them")


def _describe_listener(key: bytes, listener: Element) -> str:
    place = f"{_PROTOCOLS.get(key[4], key[4])} {format_ipv4(key[:4])}:{int.from_bytes(key[8:10])}"
    return f"“{listener.comment}” at {place}" if listener.comment else f"at {place}"


def _find_prefix_holding(after: ElementsAfter, host: bytes) -> str:
    for name in after.iter_set_names("up6_"):
        away = 128 - parse_prefix_length(name)
        start = (int.from_bytes(host) >> away << away).to_bytes(16)
        if after.find_element(name, start):
            return f"{format_ipv6(start)}/{parse_prefix_length(name)}"
    return ""
