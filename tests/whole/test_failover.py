"""Two gateways are one: whichever of them dies, is drained or loses a cable, members' connections through NAT go on.

keepalived, conntrackd and the files are those of a real gateway. The kernels pick up no connection whose beginning they have not
seen (nf_conntrack_tcp_loose=0), so a state that was not synchronised cannot go unnoticed.
"""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firewall.failover import ProgramPaths, StateCacheMode, digest_files
from firewall.roles import Drain, FailoverRole, Roles, RolesAre
from lab.failover import (
    CABLES,
    FailoverPrograms,
    await_sole_carrier,
    await_standby,
    build_gateway,
    find_obstacle,
    list_carriers,
    route_to_virtual_addresses,
    run_failover_pair,
)
from lab.lab import Lab
from lab.program import ROOT
from tests.agent.client import Client
from tests.whole.loaded_policy import MEMBERS, load
from tests.whole.system import GATEWAYS, INTERNET, agents, conversation, wait_for

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
# Sends from one port, ten times a second, forever.
TALK = """
import socket, sys, time
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plain.connect((sys.argv[1], int(sys.argv[2])))
while True:
    plain.send(b"?")
    time.sleep(0.1)
"""
INTERNET6 = "2001:db8:cafe::10"
FIRST, OTHER = GATEWAYS
PRIMARY, STANDBY = FailoverRole.PRIMARY, FailoverRole.STANDBY
SECOND = 100  # centiseconds between advertisements: a gateway that waits for the processor for two seconds is not taken for dead

AHEAD = "+1 hour"  # when a file was written by a clock that was put back since, as touch takes it


@dataclass
class GatewayPair:
    """Both gateways with their programs. The first one was started first, so it carries both families."""

    lab: Lab
    programs: dict[str, FailoverPrograms]

    def list_states(self, name: str, *what: str) -> list[str]:
        """Return the rows of the gateway's connection table; -f ipv6 for those of IPv6."""
        return self.lab.run(name, ["conntrack", "-L", *what]).stdout.splitlines()

    def count_synchronised(self) -> int:
        """Return how many established connections the standby has, in its kernel or in conntrackd's external cache."""
        program = ["conntrackd", "-C", ProgramPaths.build_for_lab(OTHER).conntrackd, "-e"]
        cached = self.lab.run(OTHER, program, check=False).stdout
        rows = [*cached.splitlines(), *self.list_states(OTHER, "-p", "tcp"), *self.list_states(OTHER, "-f", "ipv6", "-p", "tcp")]
        return sum("ESTABLISHED" in row for row in rows)


@contextmanager
def run_pair(lab: Lab, cache: StateCacheMode) -> Iterator[GatewayPair]:
    load(lab, MEMBERS)
    for name in GATEWAYS:
        lab.run(name, ["sysctl", "-q", "-w", "net.netfilter.nf_conntrack_tcp_loose=0"])
    route_to_virtual_addresses(lab)
    with run_failover_pair(lab, cache=cache, interval=SECOND) as programs:
        yield GatewayPair(lab, programs)


@pytest.fixture
def pair(bare_lab: Lab) -> Iterator[GatewayPair]:
    with run_pair(bare_lab, StateCacheMode.DIRECT) as running:
        yield running


@contextmanager
def connections(pair: GatewayPair) -> Iterator[None]:
    """Hold a connection of each family through NAT and filter, which must go on when the block ends."""
    with conversation(pair.lab, "m1", INTERNET, 7) as ipv4, conversation(pair.lab, "m1", INTERNET6, 7) as ipv6:
        assert ipv4()
        assert ipv6()
        wait_for(lambda: pair.count_synchronised() >= 2)
        yield
        assert ipv4()
        assert ipv6()


def test_a_flow_goes_on_when_it_comes_back_to_a_gateway_that_heard_nothing_of_it_meanwhile(pair: GatewayPair) -> None:
    """Its own copy is from before: packets acknowledge what this gateway has not seen."""
    with conversation(pair.lab, "m1", INTERNET, 7) as goes_on:
        wait_for(lambda: pair.count_synchronised() >= 1)
        pair.programs[OTHER].conntrackd.terminate()
        pair.programs[OTHER].conntrackd.wait(30)
        pair.programs[FIRST].call("drain")
        await_sole_carrier(pair.lab, OTHER)
        assert goes_on()
        pair.programs[FIRST].call("resume")
        await_standby(pair.programs[FIRST])
        pair.programs[OTHER].call("drain")
        await_sole_carrier(pair.lab, FIRST)
        assert goes_on()


def test_a_gateway_that_is_drained_hands_over_and_takes_nothing_back_by_itself(pair: GatewayPair) -> None:
    with connections(pair):
        said = pair.programs[FIRST].call("drain")
        assert said.splitlines() == ["IPv4 is carried by another gateway.", "IPv6 is carried by another gateway."]
        await_sole_carrier(pair.lab, OTHER)
        assert "(drained), drained; does not have 10.0.0.254" in pair.programs[FIRST].call("status")
    pair.programs[FIRST].call("resume")
    await_standby(pair.programs[FIRST])
    await_sole_carrier(pair.lab, OTHER)


def test_a_role_that_was_told_in_the_wrong_order_is_mended(pair: GatewayPair) -> None:
    for name, wrong, right, at in ((FIRST, "standby", "primary", "1 minute ago"), (OTHER, "primary", "standby", AHEAD)):
        programs = pair.programs[name]
        stale = 'echo "$1 1800000000 election" >"$0" && touch -d "$2" "$0"'
        pair.lab.run(name, ["sh", "-c", stale, f"{programs.directory}/role4", wrong, at])
        assert f"IPv4: {wrong} since" in programs.call("status")
        programs.call("refresh")
        assert f"IPv4: {right} since" in programs.call("status")


@pytest.mark.parametrize("command", ["drain", "resume"])
def test_a_family_that_does_not_exist_is_refused(pair: GatewayPair, command: str) -> None:
    program = f"{pair.programs[FIRST].directory}/netzwart-failover"
    refused = pair.lab.run(FIRST, [program, command, "5"], check=False)
    assert (refused.returncode, refused.stderr) == (1, "netzwart-failover: “5” is not a family: 4 or 6\n")
    await_sole_carrier(pair.lab, FIRST)


def test_each_family_has_a_carrier_of_its_own(pair: GatewayPair) -> None:
    with connections(pair):
        pair.programs[FIRST].call("drain", "6")
        await_sole_carrier(pair.lab, FIRST, 4)
        await_sole_carrier(pair.lab, OTHER, 6)
        pair.programs[FIRST].call("resume", "6")


@pytest.mark.parametrize("cache", StateCacheMode)
def test_connections_outlive_a_gateway_that_dies_without_a_word(bare_lab: Lab, cache: StateCacheMode) -> None:
    with run_pair(bare_lab, cache) as pair, connections(pair):
        pair.programs[FIRST].cut(*CABLES)
        wait_for(lambda: OTHER in list_carriers(pair.lab, 4) and OTHER in list_carriers(pair.lab, 6))


def test_connections_outlive_a_takeover_by_a_gateway_whose_clock_was_ahead_at_boot(bare_lab: Lab) -> None:
    """It exchanged states last by that clock, so what it writes now seems older."""
    with run_pair(bare_lab, StateCacheMode.EXTERNAL) as pair, connections(pair):
        pair.lab.run(OTHER, ["touch", "-d", AHEAD, f"{pair.programs[OTHER].directory}/exchanged"])
        pair.programs[FIRST].cut(*CABLES)
        wait_for(lambda: OTHER in list_carriers(pair.lab, 4) and OTHER in list_carriers(pair.lab, 6))


def test_connections_end_with_a_gateway_whose_states_were_not_synchronised(pair: GatewayPair) -> None:
    with conversation(pair.lab, "m1", INTERNET, 7) as goes_on:
        pair.programs[OTHER].conntrackd.terminate()
        pair.programs[OTHER].conntrackd.wait(30)
        pair.lab.run(OTHER, ["conntrack", "-F"])
        pair.programs[FIRST].cut(*CABLES)
        wait_for(lambda: OTHER in list_carriers(pair.lab, 4))
        assert not goes_on()


@pytest.mark.parametrize("cable", ["lan0", "sync0"])
def test_a_standby_that_loses_one_cable_makes_no_second_primary(pair: GatewayPair, cable: str) -> None:
    with connections(pair):
        if cable == "lan0":  # at the switch, so that the gateway's interface keeps its carrier
            pair.lab.run("core", ["ip", "link", "set", f"{OTHER}.{cable}", "nomaster"])
        else:
            pair.programs[OTHER].cut(cable)  # the primary only loses its carrier
        with pytest.raises(AssertionError, match="in vain"):
            wait_for(lambda: OTHER in list_carriers(pair.lab, 4) + list_carriers(pair.lab, 6), seconds=10)
        await_sole_carrier(pair.lab, FIRST)


def test_a_gateway_that_lost_its_ruleset_hands_over(pair: GatewayPair) -> None:
    with connections(pair):
        pair.lab.run(FIRST, ["nft", "flush", "ruleset"])
        await_sole_carrier(pair.lab, OTHER)


def test_a_gateway_whose_forwarding_is_closed_hands_over(pair: GatewayPair) -> None:
    """Closed as at boot, until a ruleset stands: such a gateway would carry members and drop everything."""
    closes = read_closing_statements()
    with connections(pair):
        pair.lab.run(FIRST, ["nft", f"flush ruleset; {closes}"])
        await_sole_carrier(pair.lab, OTHER)
    assert "chain forward" in pair.lab.run(FIRST, ["nft", "list", "chains", "inet"]).stdout
    program = f"{pair.programs[FIRST].directory}/netzwart-failover"
    assert pair.lab.run(FIRST, [program, "forwards"], check=False).returncode == 1


def read_closing_statements() -> str:
    """Return what the first unit at boot gives to nft."""
    unit = (ROOT / "gateway/systemd/netzwart-closed.service").read_text()
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart="))
    return shlex.split(command)[1]


def test_a_gateway_is_not_drained_when_no_other_takes_over(pair: GatewayPair) -> None:
    with connections(pair):
        pair.lab.run(OTHER, ["nft", "flush", "ruleset"])
        wait_for(lambda: pair.programs[OTHER].call("status").count("fault") == 2)
        refused = pair.lab.run(FIRST, [f"{pair.programs[FIRST].directory}/netzwart-failover", "drain"], check=False, timeout=120)
        assert refused.returncode == 1
        assert "no other gateway took IPv4 over within 5 s: this one keeps it" in refused.stderr
        await_sole_carrier(pair.lab, FIRST)


@pytest.mark.parametrize("drained", ["now", AHEAD])
def test_a_drained_gateway_takes_over_again_when_the_other_one_dies(pair: GatewayPair, drained: str) -> None:
    pair.programs[FIRST].call("drain")
    await_sole_carrier(pair.lab, OTHER)
    for family in (4, 6):
        pair.lab.run(FIRST, ["touch", "-d", drained, f"{pair.programs[FIRST].directory}/drained{family}"])
    pair.programs[OTHER].cut(*CABLES)
    wait_for(lambda: FIRST in list_carriers(pair.lab, 4) and FIRST in list_carriers(pair.lab, 6))


def test_states_of_long_flows_do_not_age_on_the_standby(pair: GatewayPair) -> None:
    """Only the carrier sees a flow's packets, so only its copy is renewed by them."""

    def read_remaining() -> int:
        rows = pair.list_states(OTHER, "-p", "udp", "--dport", "7")
        return int(rows[0].split()[2]) if rows and "ASSURED" in rows[0] else 0

    with pair.lab.popen("m1", [sys.executable, "-c", TALK, INTERNET, "7"]) as talker:
        try:
            before = wait_for(read_remaining)
            wait_for(lambda: read_remaining() < before - 2)
            pair.programs[FIRST].call("refresh")
            wait_for(lambda: read_remaining() >= before - 1)
        finally:
            talker.terminate()


def test_the_agents_tell_the_roles_and_drain(pair: GatewayPair, tmp_path: Path) -> None:
    with agents(pair.lab, tmp_path), connections(pair):
        clients = {name: Client(tmp_path / f"{name}.sock") for name in GATEWAYS}

        def list_told(name: str) -> list[tuple[int, FailoverRole, bool, bool]]:
            answer = clients[name].ask(Roles())
            assert isinstance(answer, RolesAre), answer
            assert answer.elected_age in range(60)
            return [(each.family, each.role, each.carries, each.is_drained) for each in answer.families]

        both = {role: [(4, role, carries, False), (6, role, carries, False)] for role, carries in ((PRIMARY, True), (STANDBY, False))}
        wait_for(lambda: (list_told(FIRST), list_told(OTHER)) == (both[PRIMARY], both[STANDBY]))
        clients[FIRST].ask(Drain((4, 6), True))
        wait_for(lambda: list_told(OTHER) == both[PRIMARY])
        wait_for(lambda: list_told(FIRST) == [(4, FailoverRole.FAULT, False, True), (6, FailoverRole.FAULT, False, True)])
        clients[FIRST].ask(Drain((4, 6), False))
        wait_for(lambda: list_told(FIRST) == both[STANDBY])
        pair.programs[OTHER].call("refresh")
        answer = clients[OTHER].ask(Roles())
        assert isinstance(answer, RolesAre), answer
        assert answer.synchronised_age in range(60)
        assert (answer.running, answer.edited) == (digest_files(build_gateway(OTHER, interval=SECOND)), ())
