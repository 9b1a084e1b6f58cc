"""The trace says what the kernel does: for random policies and random packets, in verdict, addresses, ports and counters.

200 policies with up to 60 packets each; 2,000 with `--deep`.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings

from firewall.policy import Policy
from firewall.tracing import Outcome, State
from tests.packets.scenes import GUARDED, SYN, Cookie, Event, events, policies
from tests.packets.talk import Gateway, Talk

pytestmark = pytest.mark.kernel

CASES, DEEP = 200, 2000
ANSWERED = {f"{Outcome.ANSWERED} {state}" for state in (State.UNTRACKED, State.INVALID)}
PASSING = {f"{Outcome.FORWARDED} {state}" for state in (State.ESTABLISHED, State.RELATED)}
USUAL = {f"{outcome} {State.NEW}" for outcome in Outcome if outcome is not Outcome.ANSWERED} | ANSWERED | PASSING


@pytest.fixture(scope="module")
def gateway() -> Iterator[Gateway]:
    made = Gateway()
    yield made
    made.close()


def test_the_kernel_does_to_every_packet_what_the_trace_says(gateway: Gateway, pytestconfig: pytest.Config) -> None:
    outcomes, ports = Counter[str](), Counter[str]()

    @settings(max_examples=DEEP if pytestconfig.getoption("--deep") else CASES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(policies(), events())
    @example(GUARDED, [SYN, Cookie(0), replace(SYN, flags=frozenset({"ack"}))])
    def check(policy: Policy, happens: list[Event]) -> None:
        talk = Talk.about(gateway, policy)
        for event in happens:
            talk.happen(event)
        talk.compare_counters()
        outcomes.update(talk.outcomes)
        ports.update(might=talk.drawn, did=talk.drawn_anew)

    check()
    assert outcomes.keys() >= USUAL, f"these never happened: {USUAL - outcomes.keys()}"
    assert ports["did"] > ports["might"] * 0.9, f"the kernel chose {ports['did']} of {ports['might']} ports"
