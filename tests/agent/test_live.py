"""Live traces: they report the kernel's decisions about real packets, in order and within limits, while the agent does everything else."""

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path
from time import monotonic

import pytest

from firewall import wire
from firewall.compile import compile_policy
from firewall.live_trace import ARRIVES, COMES, EVERY_SECOND, LEAVES, PACKETS, TABLE, Event, Headers, Look, Seen, Watch, Watching
from firewall.policy import BanSpec, ForwardSpec, NatMappingSpec, Policy, TransportProtocol
from firewall.render import render_rule
from firewall.ruleset import Reject, Verdict, VerdictAction
from firewall.tracing import Icmp, Packet, TraceOutcome, TraceStep, trace
from firewall.tracing.packet import SYN
from gateway.kernel import KernelTable
from gateway.operations import Agent
from gateway.persistent_state import StateDirectory
from tests.agent.client import PATIENCE
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import AnyGateway, Hands, Served, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import ban, network, step, text_of, whole
from tests.packets.frames import octets
from tests.packets.gateway_cables import ROUTES, GatewayWires
from tests.policies import NAT_1

MEMBER, PUBLIC, FOREIGN = IPv4Address("10.16.0.5"), IPv4Address("198.51.100.7"), IPv4Address("203.0.113.9")
BANNED = IPv4Address("203.0.113.66")
POLICY = Policy(
    NAT_1,
    addresses=(MEMBER,),
    prefixes=(IPv6Network("2001:db8:a0::/56"),),
    mappings=(NatMappingSpec(MEMBER, PUBLIC),),
    forwards=(ForwardSpec(1, TransportProtocol.TCP, PUBLIC, 8443, MEMBER, 443),),
    bans=(BanSpec(0, ip_network("203.0.113.64/26")),),
)
ANY = Watch(None, ip_network("0.0.0.0/0"), 0, 0, "", 30, PACKETS[-1])


def out(port: int = 443, protocol: int = 17) -> Packet:
    """Return a packet from the member to the internet."""
    return Packet("lan0", MEMBER, FOREIGN, protocol, 40_000, port)


class Wired:
    """An agent on a kernel with cables and a confirmed policy."""

    def __init__(self, state: Path) -> None:
        self.wires, self.hands = GatewayWires(), Hands()
        self.table: KernelTable = self.wires.gateway.do(KernelTable)
        self._directory = StateDirectory(state)
        self.agent = self.wires.gateway.do(self._start)
        self.state = state
        deploy(self, whole(compile_policy(POLICY), token=1, now=clock()))

    def _start(self) -> Agent:
        agent = Agent(self.table, self._directory, name="gw1", boot="boot", clock=self.hands.wall, steady=self.hands.steady)
        agent.changes.restore()
        return agent

    def ask(self, request: wire.Request) -> wire.Reply:
        return self.wires.gateway.do(self.agent.answer, request)

    ask_anew = ask

    def restart(self) -> None:
        self.agent = self.wires.gateway.do(self._start)

    def pass_by(self, *packets: Packet) -> None:
        """Send packets, and wait until the gateway has processed them."""
        for packet in packets:
            self.wires.exchange(packet.interface, [octets(packet)])

    def tables(self) -> str:
        return self.wires.gateway.do(lambda: subprocess.run(["nft", "list", "tables"], check=True, capture_output=True, text=True).stdout)

    def close(self) -> None:
        self.wires.gateway.do(self.table.close)
        self._directory.close()
        self.wires.close()


@pytest.fixture
def wired_agent(tmp_path: Path, kernel_is_there: str) -> Iterator[Wired]:
    if kernel_is_there:
        pytest.skip(f"no kernel to test on: {kernel_is_there}")
    made = Wired(tmp_path / "state")
    yield made
    made.close()


def watch(gateway: AnyGateway, what: Watch = ANY) -> int:
    answer = gateway.ask(what)
    assert isinstance(answer, Watching), answer
    return answer.watch


def look(gateway: AnyGateway, number: int, *, after: int = 0, end: bool = False) -> Seen:
    answer = gateway.ask(Look(number, after, end))
    assert isinstance(answer, Seen), answer
    return answer


def knock(source: IPv4Address) -> Packet:
    """Return a SYN to the member's port forward."""
    return Packet("wan0", source, PUBLIC, 6, 40_000, 8443, flags=SYN)


def refusal(gateway: AnyGateway, request: wire.Request) -> str:
    answer = gateway.ask(request)
    assert isinstance(answer, wire.Refused), answer
    return f"{answer.reason}: {answer.text}"


def packets(seen: Seen) -> set[int]:
    return {event.packet for event in seen.events}


def watch_packets(wired: Wired, what: Watch, *sent: Packet) -> Seen:
    """Trace these packets; return everything seen, and end the trace."""
    number = watch(wired, what)
    wired.pass_by(*sent)
    return look(wired, number, end=True)


def ends(event: Event) -> tuple[str, int, str, int]:
    assert event.headers
    return str(event.headers.source), event.headers.source_port, str(event.headers.destination), event.headers.destination_port


PASSING = [
    out(),
    out(protocol=6),
    knock(FOREIGN),
    knock(BANNED),
    replace(knock(FOREIGN), destination_port=8444),
    Packet("lan0", IPv4Address("10.16.0.6"), FOREIGN, 17, 40_000, 443),
    Packet("lan0", IPv6Address("2001:db8:a0::7"), IPv6Address("2001:db8:ff9::1"), 17, 40_000, 443),
    Packet("mgmt0", IPv4Address("172.31.0.9"), IPv4Address("172.31.0.1"), 6, 40_000, 22, flags=SYN),
]
TAKEN = {
    VerdictAction.ACCEPT: "accept",
    VerdictAction.DROP: "drop",
    VerdictAction.JUMP: "jump",
    VerdictAction.GOTO: "goto",
    VerdictAction.RETURN: "return",
}


def verdict(step: TraceStep) -> str:
    """Return the step's verdict in the kernel's words."""
    match step.verdict:
        case Verdict(action):
            return TAKEN[action]
        case Reject():
            return "drop"
        case _:
            return "continue"


@pytest.mark.kernel
@pytest.mark.parametrize("packet", PASSING)
def test_a_packets_way_is_told_rule_by_rule_in_order_as_the_trace_foretells_it(wired_agent: Wired, packet: Packet) -> None:
    foretold = trace(compile_policy(POLICY), packet, ROUTES, now=clock())
    seen = watch_packets(wired_agent, replace(ANY, source=ip_network(packet.source), destination=None), packet)
    told = [(event.chain, event.number, event.verdict) for event in seen.events if not event.mark]
    assert told == [(step.chain.name, step.number, verdict(step)) for step in foretold.steps if step.has_matched]
    last = {TraceOutcome.FORWARDED: LEAVES, TraceOutcome.DELIVERED: ARRIVES}.get(foretold.outcome)
    assert [event.mark for event in seen.events if event.mark] == [COMES, *([last] if last else [])]


@pytest.mark.kernel
def test_a_packet_is_told_as_it_comes_in_and_as_it_leaves(wired_agent: Wired) -> None:
    first, *_, last = watch_packets(wired_agent, ANY, out()).events
    assert (first.mark, first.came, first.goes, ends(first)) == (COMES, "lan0", "", (str(MEMBER), 40_000, str(FOREIGN), 443))
    assert (last.mark, last.came, last.goes) == (LEAVES, "lan0", "wan0")
    assert (ends(last)[0], ends(last)[2:]) == (str(PUBLIC), (str(FOREIGN), 443))


@pytest.mark.kernel
def test_each_rule_that_matched_is_named_with_its_place_and_its_text(wired_agent: Wired) -> None:
    seen = watch_packets(wired_agent, ANY, out(), knock(FOREIGN), knock(BANNED))
    chains = compile_policy(POLICY).chains
    matched = [event for event in seen.events if not event.mark and not event.policy]
    assert {event.chain for event in matched} >= {"dstnat", "forward", "new_up4", "bans_from4", "up", "down", "srcnat"}
    for event in matched:
        assert event.rule == render_rule(chains[event.chain].rules[event.number - 1])
    hooks = {event.chain: event.hook for event in matched}
    assert (hooks["dstnat"], hooks["bans_from4"], hooks["srcnat"]) == ("prerouting", "forward", "postrouting")


@pytest.mark.kernel
def test_a_banned_senders_packet_ends_in_the_rule_of_the_bans(wired_agent: Wired) -> None:
    *_, last = watch_packets(wired_agent, ANY, knock(BANNED)).events
    assert (last.table, last.chain, last.verdict, last.mark) == ("inet netzwart", "bans_from4", "drop", "")
    assert "@bans4_26" in last.rule


@pytest.mark.kernel
def test_a_packet_to_the_gateway_itself_arrives(wired_agent: Wired) -> None:
    *_, last = watch_packets(
        wired_agent, ANY, Packet("mgmt0", ip_address("172.31.0.9"), ip_address("172.31.0.1"), 6, 40_000, 22, flags=SYN)
    ).events
    assert (last.mark, last.came, ends(last)[3]) == (ARRIVES, "mgmt0", 22)


@pytest.mark.kernel
def test_where_routing_ends_it_nothing_is_told_after_prerouting(wired_agent: Wired) -> None:
    seen = watch_packets(wired_agent, ANY, Packet("wan0", FOREIGN, PUBLIC, 17, 40_000, 9))
    assert {event.hook for event in seen.events if not event.mark} == {"prerouting"}
    assert [event.mark for event in seen.events if event.mark] == [COMES]


HITS = [
    replace(ANY, source=ip_network("10.16.0.5/32")),
    replace(ANY, source=ip_network("10.16.0.0/16"), destination=None),
    replace(ANY, destination=ip_network("203.0.113.9/32"), protocol=17, port=443),
    replace(ANY, destination=ip_network("203.0.112.0/23"), interface="lan0"),
]
MISSES = [
    replace(ANY, source=ip_network("10.16.0.4/32")),
    replace(ANY, source=ip_network("10.17.0.0/16"), destination=None),
    replace(ANY, source=ip_network("::/0"), destination=None),
    replace(ANY, destination=ip_network("203.0.113.9/32"), protocol=6),
    replace(ANY, destination=ip_network("203.0.113.9/32"), protocol=17, port=444),
    replace(ANY, destination=ip_network("203.0.112.0/23"), interface="lan"),
]


@pytest.mark.kernel
@pytest.mark.parametrize(("what", "hit"), [*((each, True) for each in HITS), *((each, False) for each in MISSES)])
def test_only_what_matches_all_that_is_asked_is_followed(wired_agent: Wired, what: Watch, hit: bool) -> None:
    assert packets(watch_packets(wired_agent, what, out())) == ({1} if hit else set())


@pytest.mark.kernel
def test_ipv6_is_followed_by_its_prefix(wired_agent: Wired) -> None:
    inside, outside = IPv6Address("2001:db8:a0::7"), IPv6Address("2001:db8:ff9::1")
    what = Watch(ip_network("2001:db8:a0::/57"), None, 58, 0, "", 30, 10)
    echo = Packet("lan0", inside, outside, 58, icmp=Icmp(128))
    seen = watch_packets(wired_agent, what, echo, replace(echo, source=IPv6Address("2001:db8:a0:80::7")))
    first, *_, last = seen.events
    assert packets(seen) == {1}
    assert first.headers == Headers(inside, outside, 58, 0, 0, 48, icmp="128/0")
    assert (last.mark, last.goes, last.headers) == (LEAVES, "wan0", first.headers)


@pytest.mark.kernel
def test_no_more_packets_are_followed_than_were_asked_for(wired_agent: Wired) -> None:
    number = watch(wired_agent, replace(ANY, most=3))
    wired_agent.pass_by(*(out(port) for port in range(1001, 1006)))
    seen = look(wired_agent, number)
    assert [ends(event)[3] for event in seen.events if event.mark == LEAVES] == [1001, 1002, 1003]
    assert look(wired_agent, number, after=len(seen.events)) == Seen((), "packets")
    assert TABLE not in wired_agent.tables()


@pytest.mark.kernel
def test_of_a_flood_no_more_are_followed_than_a_second_has_room_for(wired_agent: Wired) -> None:
    number = watch(wired_agent)
    start = monotonic()
    wired_agent.wires.exchange("lan0", [octets(out(port)) for port in range(1001, 1081)])
    most = EVERY_SECOND * (2 + int(monotonic() - start))
    assert EVERY_SECOND <= len(packets(look(wired_agent, number))) <= most


@pytest.mark.kernel
def test_trace_events_can_be_fetched_in_parts_and_again_from_the_start(wired_agent: Wired) -> None:
    number = watch(wired_agent)
    wired_agent.pass_by(out())
    one = look(wired_agent, number)
    wired_agent.pass_by(out(444))
    other = look(wired_agent, number, after=len(one.events), end=True)
    assert (packets(one), packets(other), other.ended) == ({1}, {2}, "asked")
    assert look(wired_agent, number) == Seen(one.events + other.events, "asked")


@pytest.mark.kernel
def test_it_ends_with_its_time_and_takes_its_table_with_it(wired_agent: Wired) -> None:
    number = watch(wired_agent, replace(ANY, seconds=5))
    wired_agent.pass_by(out())
    assert TABLE in wired_agent.tables()
    wired_agent.hands.passed = 5
    seen = look(wired_agent, number)
    assert (packets(seen), seen.ended) == ({1}, "time")
    assert TABLE not in wired_agent.tables()


@pytest.mark.kernel
def test_a_second_one_is_refused_until_the_first_has_ended_which_is_then_forgotten(wired_agent: Wired) -> None:
    first = watch(wired_agent)
    assert "a live trace already runs here, for another" in refusal(wired_agent, ANY)
    look(wired_agent, first, end=True)
    second = watch(wired_agent)
    assert look(wired_agent, second).ended == ""
    assert "no longer available" in refusal(wired_agent, Look(first, 0, False))


@pytest.mark.kernel
def test_nobody_takes_its_beginning_or_its_end_for_somebody_elses_hand_in_the_table(wired_agent: Wired) -> None:
    number = watch(wired_agent)
    assert not wired_agent.wires.gateway.do(wired_agent.table.is_disturbed)
    look(wired_agent, number, end=True)
    assert not wired_agent.wires.gateway.do(wired_agent.table.is_disturbed)


@pytest.mark.kernel
def test_changes_are_applied_and_confirmed_meanwhile_and_their_rules_are_told(wired_agent: Wired) -> None:
    number = watch(wired_agent)
    before, after = compile_policy(POLICY), compile_policy(replace(POLICY, bans=()))
    deploy(wired_agent, step(before, after, token=2, now=clock()))
    wired_agent.pass_by(knock(BANNED))
    seen = look(wired_agent, number, end=True)
    texts = {event.rule for event in seen.events if event.chain == "down"}
    assert texts == {render_rule(after.chains["down"].rules[0])}
    assert seen.events[-1].mark == LEAVES
    assert runs(wired_agent) == text_of(after)


@pytest.mark.kernel
def test_what_others_trace_is_not_taken_for_ours(wired_agent: Wired) -> None:
    theirs = "table inet look { chain pre { type filter hook prerouting priority -400; meta nftrace set 1; }; }"
    wired_agent.wires.gateway.do(lambda: subprocess.run(["nft", theirs], check=True))
    assert watch_packets(wired_agent, replace(ANY, source=ip_network("10.99.0.1/32")), out()).events == ()


@pytest.mark.kernel
def test_rules_that_somebody_else_has_written_to_have_no_text(wired_agent: Wired) -> None:
    wired_agent.wires.gateway.do(lambda: subprocess.run(["nft", "insert rule inet netzwart forward counter"], check=True))
    seen = watch_packets(wired_agent, ANY, out())
    assert [event.verdict for event in seen.events if event.chain == "forward"] == ["continue", "jump"]
    assert {event.rule for event in seen.events} == {""}


@restrict_to_gateways("in memory", "served")
def test_a_table_in_memory_has_no_packets_to_follow(gateway: AnyGateway) -> None:
    assert "in memory" in refusal(gateway, ANY)


WRONG = [
    (replace(ANY, destination=None), "give a source or a destination"),
    (replace(ANY, source=ip_network("::/0")), "different families"),
    (replace(ANY, seconds=31), "seconds: 31 is not between 1 and 30"),
    (replace(ANY, seconds=0), "seconds"),
    (replace(ANY, most=101), "most: 101 is not between 1 and 100"),
    (replace(ANY, protocol=256), "protocol"),
    (replace(ANY, protocol=6, port=65536), "port"),
    (replace(ANY, port=443), "only TCP and UDP have ports"),
    (replace(ANY, interface="a name that is too long"), "interface"),
    (replace(ANY, interface="wan0\n"), "interface"),
]


@restrict_to_gateways("in memory")
@pytest.mark.parametrize(("what", "fault"), WRONG)
def test_what_cannot_be_asked_is_refused_with_the_fault(gateway: AnyGateway, what: Watch, fault: str) -> None:
    told = refusal(gateway, what)
    assert told.startswith("malformed: ") and fault in told


@restrict_to_gateways("in memory")
def test_nobody_looks_at_a_trace_that_never_began(gateway: AnyGateway) -> None:
    assert "no longer available" in refusal(gateway, Look(0, 0, False))


def until_its_table_is_gone(gateway: Served) -> None:
    give_up = monotonic() + PATIENCE
    while TABLE in gateway.nft("list", "tables"):
        assert monotonic() < give_up


@restrict_to_gateways("served on the kernel")
def test_its_table_goes_when_the_agent_is_killed(gateway: Served) -> None:
    watch(gateway)
    assert TABLE in gateway.nft("list", "tables")
    gateway.kill()
    assert TABLE not in gateway.nft("list", "tables")


@restrict_to_gateways("served on the kernel")
def test_it_ends_in_time_though_nobody_looks(gateway: Served) -> None:
    number = watch(gateway, replace(ANY, seconds=1))
    until_its_table_is_gone(gateway)
    assert look(gateway, number).ended == "time"


@restrict_to_gateways("served on the kernel")
def test_nobody_else_can_change_or_delete_its_table(gateway: Served) -> None:
    watch(gateway)
    with pytest.raises(subprocess.CalledProcessError):
        gateway.nft("delete", "table", "inet", TABLE)
    gateway.nft("flush", "ruleset")
    assert TABLE in gateway.nft("list", "tables")


@restrict_to_gateways("served on the kernel")
def test_the_served_agent_goes_on_with_changes_meanwhile(gateway: Served) -> None:
    deploy(gateway, whole(network(3), token=1, now=clock()))
    number = watch(gateway)
    deploy(gateway, step(network(3), network(5, ban("203.0.113.0/24")), token=2, now=clock()))
    assert look(gateway, number).ended == ""
    assert runs(gateway) == text_of(network(5, ban("203.0.113.0/24")))
