"""Elements end on time, however slow the gateway is and whatever its clock was when they were loaded."""

import time
from ipaddress import IPv4Address

import pytest

from firewall import wire
from firewall.diff import CounterChange, Delta, ElementChange, SetChange
from firewall.policy import BanSpec
from firewall.ruleset import Element, Ruleset, Set, Type
from gateway import elements as codec
from gateway.netlink import GETSETELEM, Netlink
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.gateways import OnKernel, Served, clock
from tests.agent.namespace import Namespace
from tests.agent.requests import deploy, runs, welcome
from tests.agent.rulesets import ban, key, network, step, text_of, whole
from tests.agent.slow_process import slow_down

HOUR = 3600
BANS = "bans4_32"


def many_bans(number: int) -> tuple[BanSpec, ...]:
    """Return bans with different ends, none of them soon."""
    first, ends = int(IPv4Address("203.0.0.0")), clock() + HOUR
    return tuple(ban(f"{IPv4Address(first + each)}/32", "", ends + each % HOUR) for each in range(number))


def largest_error(ruleset: Ruleset, space: Namespace | None = None) -> float:
    """Return the largest difference, in seconds, between the end of an element in the kernel and in the ruleset.

    Reads in the given namespace, or in the caller's. The kernel tells remaining times at some moment of the reading, however long that
    takes.
    """
    name = BANS
    remaining: dict[bytes, int] = {}

    def look() -> None:
        own = Netlink()
        for bodies, _ in own.iter_dump(GETSETELEM, codec.pack_set_reference(name)):
            for body in bodies:
                for columns in codec.decode(body):
                    remaining.update({key: left for key, left in zip(columns.keys, columns.remaining, strict=True) if left})
        own.close()

    begun = time.time()
    space.do(look) if space else look()
    over = time.time()
    assert remaining.keys() == {key for key, element in ruleset.elements[name].items() if element.expires}
    right = (ruleset.elements[name][key].expires - left / 1000 for key, left in remaining.items())  # when the times told are exact
    return max(max(begun - at, at - over, 0.0) for at in right)


@restrict_to_gateways("kernel")
def test_a_question_about_the_past_does_not_let_bans_last_longer(gateway: OnKernel) -> None:
    wanted = network(1, *many_bans(3))
    welcome(gateway)
    assert isinstance(gateway.ask(wire.Hello(clock() - 8, sent=(clock() - 8) * 1000)), wire.Welcome)
    deploy(gateway, whole(wanted, token=1, now=clock() - 8))
    assert largest_error(wanted, gateway.space) < 1


@restrict_to_gateways("kernel")
def test_nothing_has_drifted_where_only_a_question_was_old_and_another_table_came(gateway: OnKernel) -> None:
    wanted, then = network(1, *many_bans(3)), clock() - 8
    assert isinstance(gateway.ask(wire.Hello(then)), wire.Welcome)
    deploy(gateway, whole(wanted, token=1, now=then))
    gateway.nft("add table inet other")
    drifted = gateway.ask(wire.Drift(clock()))
    assert isinstance(drifted, wire.Drifted)
    assert (drifted.rules, drifted.elements) == ((), {})
    assert welcome(gateway).digest == text_of(wanted, clock())


@restrict_to_gateways("kernel")
@pytest.mark.parametrize("off", [HOUR // 2, 10])
def test_a_clock_that_was_ahead_is_put_back_and_the_ends_with_it(gateway: OnKernel, off: int) -> None:
    wanted = network(1, *many_bans(5000))
    gateway.hands.off = off
    gateway.restart()
    deploy(gateway, whole(wanted, token=1, now=clock()))
    said = welcome(gateway)
    assert said.clock > time.time() * 1000 + 1000
    bound = wire.ClockBound(said.steady, round(time.time() * 1000))
    assert isinstance(gateway.ask(wire.Hello(clock(), not_later=bound)), wire.Welcome)
    assert largest_error(wanted, gateway.space) < 1
    assert isinstance(gateway.ask(wire.Hello(clock(), not_later=bound)), wire.Welcome)
    assert largest_error(wanted, gateway.space) < 1, "the same said twice moves nothing twice"
    assert runs(gateway) == text_of(wanted)


@restrict_to_gateways("kernel")
def test_a_clock_that_was_behind_is_put_forward_and_the_ends_with_it(gateway: OnKernel) -> None:
    over = ban("198.51.100.1/32", "", clock() - 5)
    bans = many_bans(5000)
    wanted, held = network(1, *bans), network(1, *bans, over)
    gateway.hands.off = -HOUR
    gateway.restart()
    deploy(gateway, whole(held, token=1, now=clock() - HOUR))
    assert isinstance(gateway.ask(wire.Hello(clock(), sent=round(time.time() * 1000))), wire.Welcome)
    assert largest_error(wanted, gateway.space) < 1, "and what ended meanwhile is gone"
    assert runs(gateway) == text_of(held, clock())


@restrict_to_gateways("served on the kernel")
def test_a_load_that_takes_ten_times_as_long_ends_nothing_later(gateway: Served) -> None:
    small, wanted = network(1, ban("192.0.2.9/32")), network(1, ban("192.0.2.9/32"), *many_bans(20_000))
    with slow_down(gateway.process.pid):
        deploy(gateway, whole(small, token=1, now=clock()))
        deploy(gateway, step(small, wanted, token=2, now=clock()))
        drifted = gateway.ask(wire.Drift(clock()))
    assert isinstance(drifted, wire.Drifted)
    assert drifted.elements == {}
    assert _error_inside(gateway, wanted) < 1


@restrict_to_gateways("served on the kernel")
def test_a_first_load_that_takes_ten_times_as_long_ends_nothing_later(gateway: Served) -> None:
    wanted = network(1, *many_bans(20_000))
    with slow_down(gateway.process.pid):
        deploy(gateway, whole(wanted, token=1, now=clock()))
        assert isinstance(gateway.ask(wire.Digest(clock())), wire.DigestIs)
    assert _error_inside(gateway, wanted) < 1


def _error_inside(gateway: Served, wanted: Ruleset) -> float:
    """Return `largest_error` in the gateway's namespace, which a thread enters."""
    inside = Namespace(gateway.space)
    try:
        return largest_error(wanted, inside)
    finally:
        inside.close()


@pytest.mark.parametrize("bench", [pytest.param("kernel", marks=pytest.mark.kernel)], indirect=True)
@pytest.mark.parametrize("left", [0.001, 0.004, 0.5])
@pytest.mark.parametrize("in_text", [False, True])
def test_an_element_with_hardly_any_time_left_is_not_kept_for_ever(bench: Bench, left: float, in_text: bool) -> None:
    of = Set(BANS, (Type.IPV4,), 64, timeout=True)
    bench.do(bench.table.commit, Delta(sets={BANS: SetChange(None, of)}), clock())
    ends = clock() + 10
    change = ElementChange(of, {}, {key("203.0.113.9"): Element(b"", "", ends)})
    counters = CounterChange(frozenset(), frozenset({"leaked"} if in_text else ()))
    delta = Delta(elements={BANS: change}, counters=counters)
    assert delta.touches_rules == in_text
    bench.do(bench.table.commit, delta, ends - left)
    while bench.do(bench.table.read_elements, of, [key("203.0.113.9")], ends):
        pass
    assert bench.do(bench.table.read, clock()).elements[BANS] == {}
