"""Compares the trace with the kernel for random policies and packets: verdict, addresses, ports and counters.

By default 300 fixed policies with up to 60 packets each; with `--deep` 3,000 policies that differ in each run.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random, SystemRandom
from typing import get_args

import pytest

from firewall.policy import Policy, PolicyError
from firewall.ruleset import AssignHelper, Part
from firewall.sets import FAMILIES
from firewall.tracing import ConntrackState, TraceOutcome
from tests.packets.coverage import Line, RuleCoverage
from tests.packets.events import Event, events
from tests.packets.scenes import policy, without_helpers
from tests.packets.shrink import smallest
from tests.packets.trace_comparison import Talk, TracedGateway

pytestmark = [pytest.mark.kernel, pytest.mark.deep]

CASES, DEEP = 300, 3000
ANSWERED = {f"{TraceOutcome.ANSWERED} {state}" for state in (ConntrackState.UNTRACKED, ConntrackState.INVALID)}
PASSING = {f"{TraceOutcome.FORWARDED} {state}" for state in (ConntrackState.ESTABLISHED, ConntrackState.RELATED)}
USUAL = {f"{outcome} {ConntrackState.NEW}" for outcome in TraceOutcome if outcome is not TraceOutcome.ANSWERED} | ANSWERED | PASSING
# No cable leads to `lo`. A trace assumes a sender who is within all limits; tests/lab covers senders over a limit.
ELSEWHERE: set[Line] = {
    ("input", "iifname lo", "accept ", ""),
    ("over", "drop ", ""),
    ("over", "meta l4proto tcp", "tcp reset", ""),
    ("over", "icmpx admin-prohibited", ""),
}
# Guarded services: packets that Synproxy lets fall through, which do not occur here; IPv6 (scenes._guard); a kernel that takes an ACK for
# a new connection; and packets after the gateway has connected to both sides, which tests/whole/test_guards.py covers.
_TO, _BACK = (f"ip {end} meta l4proto th {port} in guard4" for end, port in (("daddr", "dport"), ("saddr", "sport")))
_GUARD = "guarded services"
ELSEWHERE |= {
    ("cookies", "drop ", ""),
    ("cookies", "iifname lan0", "ip6 saddr in blocked6", "jump blocked", ""),
    *(("new", *way, "tcp ack", _TO, "Synproxy", _GUARD) for way in ((), ("oifname lan0",), ("oifname srv0",))),
    ("forward", "iifname wan0", "oifname lan0", _TO, "accept ", _GUARD),
    ("forward", "iifname lan0", "oifname wan0", _BACK, "accept ", _GUARD),
    ("forward", "iifname lan0", "oifname lan0", _TO, "jump up", _GUARD),
    ("forward", "iifname lan0", "oifname lan0", _BACK, "jump down", _GUARD),
}


@pytest.fixture(scope="module")
def gateway() -> Iterator[TracedGateway]:
    made = TracedGateway()
    yield made
    made.close()


def test_the_kernel_does_to_every_packet_what_the_trace_says(gateway: TracedGateway, pytestconfig: pytest.Config) -> None:
    deep, coverage = pytestconfig.getoption("--deep"), RuleCoverage()
    first = SystemRandom().randrange(1 << 32) if deep else 0
    talks = [_talk(gateway, seed, coverage) for seed in range(first, first + (DEEP if deep else CASES))]
    outcomes = Counter[str]()
    for talk in talks:
        outcomes.update(talk.outcomes)
    assert outcomes.keys() >= USUAL, f"these never happened: {USUAL - outcomes.keys()}"
    might, did = sum(talk.drawn for talk in talks), sum(talk.drawn_anew for talk in talks)
    assert did > might * 0.9, f"the kernel chose {did} of {might} ports"
    _all_was_passed(coverage, set(get_args(Part)) - (set() if gateway.reads_along else {AssignHelper}))


def _all_was_passed(coverage: RuleCoverage, parts: set[type[Part]]) -> None:
    """Fail if packets missed a line of the rule language.

    Such a line needs packets in tests/packets/packet_sources.py, or policies that contain it.
    """
    assert coverage.never() == ELSEWHERE
    assert {family.name for family in FAMILIES} - {"guard6"} <= coverage.found.keys()
    assert coverage.parts == parts


def _talk(gateway: TracedGateway, seed: int, coverage: RuleCoverage) -> Talk:
    random = Random(seed)
    policy_of_seed = policy(random)
    if not gateway.reads_along:
        policy_of_seed = without_helpers(policy_of_seed)
    happens = events(random, policy_of_seed)
    try:
        return _hold(gateway, policy_of_seed, happens, coverage)
    except AssertionError as error:
        gateway.wires.exchange("sync0", [])  # discard packets that are still arriving
        few, smaller = smallest(policy_of_seed, happens, lambda *case: _fails(gateway, *case))
        raise AssertionError(f"seed {seed}: {error}\n\nin short: {_why(gateway, few, smaller)}\n{few}\n{smaller}") from None


def _hold(gateway: TracedGateway, about: Policy, happens: list[Event], coverage: RuleCoverage) -> Talk:
    talk = Talk.about(gateway, about, coverage)
    for event in happens:
        talk.happen(event)
    talk.compare_counters()
    return talk


def _fails(gateway: TracedGateway, about: Policy, happens: list[Event]) -> bool:
    return bool(_why(gateway, about, happens))


def _why(gateway: TracedGateway, about: Policy, happens: list[Event]) -> str:
    """Return the failure's message; "" if the case passes or is not a valid policy."""
    try:
        _hold(gateway, about, happens, RuleCoverage())
    except AssertionError as error:
        gateway.wires.exchange("sync0", [])
        return str(error)
    except PolicyError:
        return ""
    return ""
