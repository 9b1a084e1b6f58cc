"""Cutting flows: a change ends the open connections that it concerns, at the right time, and leaves all others."""

import os
import subprocess
from collections.abc import Collection
from ipaddress import IPv4Network, ip_address
from itertools import pairwise

import pytest

from firewall import wire
from firewall.flows import Flow, FlowFilter
from firewall.policy import AllowEntrySpec
from firewall.ruleset import Ruleset, drop_expired
from gateway.memory_table import FakeKernel
from gateway.table import TableError
from tests.agent.conftest import Bench, restrict_to_gateways
from tests.agent.gateways import InProcess, OnKernel, clock
from tests.agent.requests import deploy, send_refused
from tests.agent.rulesets import ban, network, step, text_of, whole
from tests.agent.test_trial import EXPIRED, Wedged, refuse

MEMBER, OTHER, PUBLIC, PEER, BANNED = "10.1.0.1", "10.1.0.2", "198.51.100.7", "203.0.113.1", "203.0.113.9"


def build_conntrack_arguments(source: str, sport: int, to: str, dport: int, *, snat: str = "", dnat: str = "") -> list[str]:
    """Return arguments of conntrack(8) for an established connection; dnat is an address with a port."""
    nat = [*(["--src-nat", snat] if snat else []), *(["--dst-nat", dnat] if dnat else [])]
    ends = ["-s", source, "-d", to, "--sport", str(sport), "--dport", str(dport)]
    return ["-p", "tcp", *ends, "--state", "ESTABLISHED", "-t", "600", *nat]


OUT = build_conntrack_arguments(MEMBER, 1000, PEER, 443, snat=PUBLIC)
OTHERS = build_conntrack_arguments(OTHER, 1002, PEER, 443, snat=PUBLIC)
TO_BANNED = build_conntrack_arguments(OTHER, 1001, BANNED, 443, snat=PUBLIC)
IN = build_conntrack_arguments(PEER, 5000, PUBLIC, 2001, dnat=f"{OTHER}:22")
OUT6 = build_conntrack_arguments("2001:db8::5", 1000, "2001:db8:ffff::1", 443)
ALL = {"out": OUT, "others": OTHERS, "banned": TO_BANNED, "in": IN, "out6": OUT6}


def open_connections(gateway: InProcess | OnKernel) -> None:
    """Deploy three members and open their connections."""
    deploy(gateway, whole(network(3), token=1, now=clock()))
    for arguments in ALL.values():
        open_one(gateway, arguments)


def open_one(gateway: InProcess | OnKernel, arguments: list[str]) -> None:
    if isinstance(gateway, OnKernel):
        gateway.space.do(subprocess.run, ["conntrack", "-I", *arguments], check=True, capture_output=True)
    else:
        gateway.table.tracked.append(as_flow(arguments))


def as_flow(arguments: list[str]) -> Flow:
    said = dict(zip(arguments[::2], arguments[1::2], strict=True))
    source, to = ip_address(said["-s"]).packed, ip_address(said["-d"]).packed
    there, _, port = said.get("--dst-nat", f"{said['-d']}|{said['--dport']}").replace("|", ":").rpartition(":")
    back = ip_address(said.get("--src-nat", said["-s"])).packed
    sport, dport = int(said["--sport"]), int(said["--dport"])
    return Flow(source, to, 6, sport, dport, ip_address(there).packed, back, int(port), sport)


def alive(gateway: InProcess | OnKernel) -> set[str]:
    """Return the names of the connections that still exist."""
    plain = list_plain(gateway)
    return {name for name, arguments in ALL.items() if as_flow(arguments) in plain}


def list_plain(gateway: InProcess | OnKernel) -> set[Flow]:
    """Return all connections without their handles."""
    flows = gateway.space.do(gateway.table.list_flows) if isinstance(gateway, OnKernel) else gateway.table.list_flows()
    return {flow._replace(handle=b"") for flow in flows}


def apply(gateway: InProcess | OnKernel, before: Ruleset, after: Ruleset, *, token: int = 2) -> int:
    answer = gateway.ask(step(before, after, token=token, now=clock()))
    assert isinstance(answer, wire.Applied), answer
    return answer.flows_cut


def confirm(gateway: InProcess | OnKernel, target: Ruleset, *, token: int = 2) -> int:
    answer = gateway.ask_anew(wire.Confirm(token, text_of(target)))
    assert isinstance(answer, wire.Confirmed), answer
    return answer.flows_cut


in_process = restrict_to_gateways("in memory", "kernel")


@in_process
def test_a_ban_cuts_at_commit_what_it_concerns(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    banned = network(3, ban("203.0.113.8/29", "scans"))
    assert apply(gateway, network(3), banned) == 1
    assert alive(gateway) == ALL.keys() - {"banned"}
    assert confirm(gateway, banned) == 0
    assert apply(gateway, banned, network(3), token=3) == 0
    assert confirm(gateway, network(3), token=3) == 0
    assert alive(gateway) == ALL.keys() - {"banned"}


@in_process
def test_whoever_leaves_keeps_his_connections_until_it_is_confirmed(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    assert apply(gateway, network(3), network(1)) == 0
    assert alive(gateway) == ALL.keys()
    assert confirm(gateway, network(1)) == 3
    assert alive(gateway) == {"out", "out6"}


@in_process
def test_a_reverted_change_ends_no_flows(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    apply(gateway, network(3), network(0))
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert alive(gateway) == ALL.keys()


FORWARDS, NONE = network(3), network(3, forwards=False)
WITH_BAN = network(3, ban("203.0.113.8/29", "scans"))
WITH_EXCEPTION = network(3, ban("203.0.113.8/29", "scans"), allowed=(AllowEntrySpec(0, IPv4Network("203.0.113.9"), "", 0),))


@in_process
@pytest.mark.parametrize("killed", [False, True], ids=["reverted", "killed"])
@pytest.mark.parametrize(
    ("before", "tried", "cut"),
    [(WITH_BAN, FORWARDS, "banned"), (WITH_BAN, WITH_EXCEPTION, "banned"), (NONE, FORWARDS, "in"), (FORWARDS, NONE, "")],
    ids=["ban lifted", "allow entry added", "forward added", "forward withdrawn"],
)
def test_what_a_change_on_trial_let_in_is_cut_when_it_is_taken_back(
    gateway: InProcess | OnKernel, before: Ruleset, tried: Ruleset, cut: str, *, killed: bool
) -> None:
    deploy(gateway, whole(before, token=1, now=clock()))
    apply(gateway, before, tried)
    for arguments in ALL.values():
        open_one(gateway, arguments)
    if killed:
        gateway.restart()
    else:
        assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert alive(gateway) == ALL.keys() - {cut}
    assert not (gateway.state / "cut").exists()


def skip_time(gateway: InProcess, seconds: int) -> int:
    """Let time pass on the gateway, and return its clock then."""
    gateway.hands.passed += seconds
    return clock() + seconds


def try_and_take_back(gateway: InProcess, before: Ruleset, tried: Ruleset, now: int) -> None:
    """Apply a change, open the connections, and take it back. now: the gateway's time."""
    assert isinstance(gateway.ask(step(drop_expired(before, now), drop_expired(tried, now), token=2, now=now)), wire.Applied)
    for arguments in ALL.values():
        open_one(gateway, arguments)
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)


EXCEPTION = IPv4Network("203.0.113.9")


@restrict_to_gateways("in memory")
def test_a_ban_that_had_ended_cuts_nothing_when_an_allow_entry_is_taken_back(gateway: InProcess) -> None:
    past = ban("203.0.113.8/29", "scans", clock() + 90)
    before = network(3, past)
    deploy(gateway, whole(before, token=1, now=clock()))
    tried = network(3, past, allowed=(AllowEntrySpec(0, EXCEPTION, "", 0),))
    try_and_take_back(gateway, before, tried, skip_time(gateway, 100))
    assert alive(gateway) == ALL.keys()


@restrict_to_gateways("in memory")
def test_an_allow_entry_that_had_ended_keeps_no_flow_of_a_ban_that_comes_back(gateway: InProcess) -> None:
    past = (AllowEntrySpec(0, EXCEPTION, "", clock() + 90),)
    before = network(3, ban("203.0.113.8/29", "scans"), allowed=past)
    deploy(gateway, whole(before, token=1, now=clock()))
    try_and_take_back(gateway, before, network(3, allowed=past), skip_time(gateway, 100))
    assert alive(gateway) == ALL.keys() - {"banned"}


@restrict_to_gateways("in memory")
def test_a_way_back_that_is_refused_while_bans_end_is_noted_once(gateway: InProcess) -> None:
    gateway.table = Wedged()
    gateway.restart()
    ends = [clock() + 45 + 10 * each for each in range(4)]
    before = network(3, ban("203.0.113.8/29", "scans"), *(ban(f"192.0.2.{each}/32", "", end) for each, end in enumerate(ends)))
    deploy(gateway, whole(before, token=1, now=clock()))
    apply(gateway, before, network(3, *(ban(f"192.0.2.{16 + each}/32", "", end) for each, end in enumerate(ends))), token=2)
    open_one(gateway, TO_BANNED)
    refuse(gateway, 1000, EXPIRED)
    assert send_refused(gateway, wire.Revert(2)).reason == "state"
    noted = (gateway.state / "cut").read_bytes()
    for _ in range(8):
        skip_time(gateway, 10)
        with pytest.raises(TableError):
            gateway.agent.changes.take_back_overdue()
    assert (gateway.state / "cut").read_bytes() == noted
    refuse(gateway, 0, EXPIRED)
    gateway.agent.changes.take_back_overdue()
    assert alive(gateway) == set()
    assert not (gateway.state / "cut").exists()


@in_process
def test_a_member_who_gets_an_address_back_from_another_keeps_the_connections(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    apply(gateway, network(3), network(3, first_owner=5_000_000))
    assert isinstance(gateway.ask(wire.Revert(2)), wire.Reverted)
    assert alive(gateway) == ALL.keys()


@in_process
def test_what_comes_back_before_it_is_confirmed_keeps_its_connections(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    apply(gateway, network(3), network(0))
    apply(gateway, network(0), network(1), token=3)
    assert confirm(gateway, network(1), token=3) == 3
    assert alive(gateway) == {"out", "out6"}


@in_process
def test_a_confirmation_that_is_refused_cuts_nothing(gateway: InProcess | OnKernel) -> None:
    open_connections(gateway)
    apply(gateway, network(3), network(1))
    assert send_refused(gateway, wire.Confirm(2, text_of(network(2)))).reason == "digest"
    assert alive(gateway) == ALL.keys()


class Counted(FakeKernel):
    """A table that counts how often its flows are listed."""

    listed = 0

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        self.listed += 1
        return super().list_flows(toward)


class Unlistable(FakeKernel):
    """A kernel without connection tracking over netlink."""

    listed = 0

    def list_flows(self, toward: Collection[FlowFilter] | None = None) -> list[Flow]:
        self.listed += 1
        raise TableError("netlink: Operation not supported")


@restrict_to_gateways("in memory")
def test_a_change_stands_though_its_flows_cannot_be_listed(gateway: InProcess) -> None:
    gateway.table = table = Unlistable()
    gateway.restart()
    deploy(gateway, whole(network(3, forwards=False), token=1, now=clock()))
    assert table.listed == 0
    banned = network(2, ban("203.0.113.9/32"))
    assert apply(gateway, network(3, forwards=False), banned) == -1
    assert confirm(gateway, banned) == -1


@restrict_to_gateways("in memory")
def test_members_and_mappings_that_only_come_list_no_flows(gateway: InProcess) -> None:
    gateway.table = table = Unlistable()
    gateway.restart()
    few, many = network(3, forwards=False), network(9, forwards=False)
    deploy(gateway, whole(few, token=1, now=clock()))
    assert apply(gateway, few, many) == 0
    assert confirm(gateway, many) == 0
    assert table.listed == 0


@restrict_to_gateways("in memory")
def test_flows_are_listed_once_for_each_change(gateway: InProcess) -> None:
    gateway.table = table = Counted()
    gateway.restart()
    banned = network(3, ban("203.0.113.9/32"))
    open_connections(gateway)
    table.listed = 0
    for token, (before, after) in enumerate(pairwise([network(3), network(4), network(2), banned, network(1), banned]), 2):
        apply(gateway, before, after, token=token)
        confirm(gateway, after, token=token)
        assert table.listed <= 1
        table.listed = 0


@pytest.mark.parametrize("bench", [pytest.param("kernel", marks=pytest.mark.kernel)], indirect=True)
def test_the_kernels_flows_are_listed_as_they_are_whatever_their_protocol(bench: Bench) -> None:
    icmp = ["-p", "icmp", "-s", MEMBER, "-d", PEER, "--icmp-type", "8", "--icmp-code", "0", "--icmp-id", "7", "-t", "600"]
    for arguments in (*ALL.values(), icmp):
        bench.do(subprocess.run, ["conntrack", "-I", *arguments], check=True, capture_output=True)
    flows = bench.do(bench.table.list_flows)
    plain = {flow._replace(handle=b"") for flow in flows}
    assert {as_flow(arguments) for arguments in ALL.values()} <= plain
    member, peer = ip_address(MEMBER).packed, ip_address(PEER).packed
    assert Flow(member, peer, 1, 0, 0, peer, member, 0, 0) in plain
    assert bench.do(bench.table.cut, flows) == len(flows) == len(ALL) + 1
    assert bench.do(bench.table.list_flows) == []
    assert bench.do(bench.table.cut, flows) == 0


TO_PUBLIC = FlowFilter(ip_address(PUBLIC).packed, 6)
SIX = FlowFilter(ip_address("2001:db8:ffff::1").packed, 6)


@pytest.mark.parametrize("bench", [pytest.param("kernel", marks=pytest.mark.kernel)], indirect=True)
@pytest.mark.parametrize(
    ("toward", "names"),
    [
        ({TO_PUBLIC}, {"in"}),
        ({TO_PUBLIC._replace(reply=True)}, {"out", "others", "banned"}),
        ({TO_PUBLIC._replace(protocol=17)}, set()),
        ({TO_PUBLIC._replace(protocol=0)}, {"in"}),
        ({TO_PUBLIC._replace(port=2001)}, {"in"}),
        ({TO_PUBLIC._replace(port=2002)}, set()),
        ({TO_PUBLIC._replace(port=1001, reply=True), TO_PUBLIC._replace(port=1002, reply=True)}, {"banned", "others"}),
        ({SIX}, {"out6"}),
        ({SIX._replace(protocol=0), TO_PUBLIC, TO_PUBLIC._replace(protocol=0)}, {"out6", "in"}),
        (set(), set()),
    ],
)
def test_the_kernel_lists_what_leads_somewhere_alone(bench: Bench, toward: set[FlowFilter], names: set[str]) -> None:
    for arguments in ALL.values():
        bench.do(subprocess.run, ["conntrack", "-I", *arguments], check=True, capture_output=True)
    flows = bench.do(bench.table.list_flows, toward)
    assert sorted(flow._replace(handle=b"") for flow in flows) == sorted(as_flow(ALL[name]) for name in names)
    assert bench.do(bench.table.cut, flows) == len(names)


@pytest.mark.parametrize("bench", [pytest.param("kernel", marks=pytest.mark.kernel)], indirect=True)
def test_a_connection_that_took_the_place_of_another_is_not_cut(bench: Bench) -> None:
    bench.do(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))})  # each processor has free memory of its own
    bench.do(subprocess.run, ["conntrack", "-I", *OUT], check=True, capture_output=True)
    [before] = bench.do(bench.table.list_flows)
    bench.do(subprocess.run, ["conntrack", "-F"], check=True, capture_output=True)
    bench.do(subprocess.run, ["conntrack", "-I", *OTHERS], check=True, capture_output=True)  # takes the memory of the first
    bench.do(subprocess.run, ["conntrack", "-I", *OUT], check=True, capture_output=True)
    same = [flow for flow in bench.do(bench.table.list_flows) if flow._replace(handle=b"") == before._replace(handle=b"")]
    assert same[0].handle != before.handle
    assert bench.do(bench.table.cut, [before]) == 0
    assert bench.do(bench.table.cut, same) == 1
