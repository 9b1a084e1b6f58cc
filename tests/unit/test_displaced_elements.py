"""Elements that cannot wait for an approval, because the address that they open, or let out, gets another holder."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from firewall.diff import ElementChange, diff
from firewall.displaced_elements import find_displaced_elements
from firewall.ruleset import PLAIN, Element, Elements, Ruleset
from firewall.sets import declare
from tests.unit.test_blast import keep_waiting

HOLDINGS = st.dictionaries(st.integers(0, 6), st.integers(1, 3), max_size=6)  # holding by address
FORWARDS = st.dictionaries(st.integers(1, 8), st.integers(0, 6), max_size=8)  # address by public port
SENT = st.frozensets(st.integers(0, 6), max_size=6)  # addresses with a shared mapping


def make_address(number: int) -> bytes:
    return bytes([10, 16, 0, number])


def make_forward_key(port: int, protocol: int = 6) -> bytes:
    return bytes([198, 51, 100, 7, protocol, 0, 0, 0]) + port.to_bytes(2) + b"\0\0"


def make_network(holdings: Mapping[int, int], forwards: Mapping[int, int], sent: frozenset[int]) -> Ruleset:
    """Build the elements of these holdings, of forwards of their port 22, and of shared mappings."""
    held = {make_address(number): Element(holding.to_bytes(8)) for number, holding in holdings.items()}
    elements: dict[str, Elements] = {
        "up4": held,
        "down4": dict(held),
        "forward4": {make_forward_key(port): Element(make_address(to) + b"\0\x16\0\0") for port, to in forwards.items()},
        "snat4": {make_address(number): Element(b"\xc6\x33\x64\x07") for number in sent},
        "out4": {make_address(number): PLAIN for number in sent},
    }
    return Ruleset({}, {name: declare(name, 0) for name in elements}, elements)


@given(HOLDINGS, HOLDINGS, FORWARDS, FORWARDS, SENT, SENT)
def test_what_waits_opens_nobody_elses_host_and_lets_nobody_else_out(
    held: dict[int, int],
    holds: dict[int, int],
    led: dict[int, int],
    leads: dict[int, int],
    sent: frozenset[int],
    sends: frozenset[int],
) -> None:
    running, wanted = make_network(held, led, sent), make_network(holds, leads, sends)
    same = {number for number in range(7) if number not in holds or holds[number] == held.get(number)}
    stays = {port: to for port, to in led.items() if to in same}
    mapped = frozenset(number for number in sent if number in same)
    assert keep_waiting(running, wanted) == make_network(held | holds, stays | leads, mapped | sends).elements


def make_prefix(number: int, length: int = 64) -> tuple[str, bytes]:
    return f"up6_{length}", bytes([0x20, 1, 0xD, 0xB8, 0, 0, 0, number]) + bytes(8)


def find_displaced_pinholes(before: tuple[str, bytes] | None, after: tuple[str, bytes]) -> set[str]:
    """Return the names of the sets whose pinhole of 2001:db8::5:0:0:0:9 cannot wait when its prefix has another holder afterwards."""
    host = make_prefix(5)[1][:15] + b"\x09"
    gone: dict[str, Elements] = {
        "pinhole6": {host + b"\x06\0\0\0\0\x16\0\0": PLAIN},
        "pinhole_protocol6": {host + b"\x06\0\0\0": PLAIN},
        "pinhole_host6": {host: PLAIN},
    }
    changes = {name: ElementChange(declare(name, 0), elements, {}) for name, elements in gone.items()}
    for name in {after[0], *([before[0]] if before else [])}:
        old = {before[1]: Element((1).to_bytes(8))} if before and before[0] == name else {}
        new = {after[1]: Element((2).to_bytes(8))} if after[0] == name else {}
        changes[name] = ElementChange(declare(name, 0), old, new)
    found = find_displaced_elements(gone, changes)
    assert all(found[name] == gone[name] for name in found)
    return set(found)


ALL = {"pinhole6", "pinhole_protocol6", "pinhole_host6"}


def test_pinholes_do_not_wait_once_somebody_else_has_the_prefix_whatever_its_length() -> None:
    assert find_displaced_pinholes(make_prefix(5), make_prefix(5)) == ALL
    assert find_displaced_pinholes(None, make_prefix(5)) == ALL
    assert find_displaced_pinholes(make_prefix(5), make_prefix(0, 56)) == ALL
    assert find_displaced_pinholes(make_prefix(4), make_prefix(4)) == set()


PORTS = st.frozensets(st.integers(1, 8), max_size=8)


def make_ports(forwards: frozenset[int], listeners: frozenset[int], guarded: frozenset[int]) -> Ruleset:
    """Build forwards of these ports, and listeners on them at the same address; the guarded ones are in a set of their own."""
    network = make_network({}, dict.fromkeys(forwards, 1), frozenset())
    elements: dict[str, Elements] = {
        "forward4": network.elements["forward4"],
        "listener4": {make_forward_key(port): PLAIN for port in listeners - guarded},
        "guard4_7": {make_forward_key(port): PLAIN for port in listeners & guarded},
        "listener4_hosts": {make_forward_key(0)[:4]: PLAIN} if listeners else {},
    }
    return Ruleset({}, {name: declare(name, 0) for name in elements}, elements)


@given(PORTS, PORTS, PORTS, PORTS, PORTS)
def test_a_port_is_a_forwards_or_a_listeners_also_while_removals_wait(
    forwarded: frozenset[int], forwards: frozenset[int], listened: frozenset[int], listens: frozenset[int], guarded: frozenset[int]
) -> None:
    running = make_ports(forwarded, listened - forwarded, guarded)
    wanted = make_ports(forwards, listens - forwards, guarded)
    stays_forwarded, stays_listened = forwarded - (listens - forwards), listened - forwarded - forwards
    expected = make_ports(stays_forwarded | forwards, stays_listened | listens - forwards, guarded)
    assert keep_waiting(running, wanted) == expected.elements


def test_a_set_that_is_made_anew_displaces_nothing() -> None:
    running, wanted = make_network({1: 1}, {22: 1}, frozenset()), make_network({1: 1}, {}, frozenset())
    held = running.elements["up4"]
    changes = dict(diff(running, wanted).elements) | {"up4": ElementChange(declare("up4", 0), held, held)}
    assert not find_displaced_elements({"forward4": running.elements["forward4"]}, changes)
