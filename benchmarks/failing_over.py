"""failover: silence of members' flows when the gateway that carries them dies, and when it is drained.

Real keepalived and conntrackd in a lab, with the files that Netzwart renders; the kernels pick up no connection in its middle. TCP
flows of both families go from a member to the internet and from the internet to a member, a UDP flow beside them, while the gateways
track 20,000 other connections. Needs root.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from statistics import median
from typing import Any

from benchmarks.figures import Figure
from firewall.compile import compile_policy
from firewall.policy import (
    ForwardSpec,
    GatewayGroupSettings,
    GatewaySpec,
    Hole,
    Interfaces,
    Management,
    NatMappingSpec,
    PinholeSpec,
    Policy,
    TransportProtocol,
)
from firewall.render import render
from lab.failover import (
    CABLES,
    SYNC,
    FailoverPrograms,
    await_sole_carrier,
    await_standby,
    find_obstacle,
    list_carriers,
    route_to_virtual_addresses,
    run_failover_pair,
)
from lab.lab import Lab
from lab.measure.runs import BusyFlows, keep_flows_busy, open_many_states
from lab.measure.silence import LATE, SilenceReport
from lab.topology import load_topology

ROUNDS, OTHERS = 10, 20_000
PATIENCE = 120.0  # seconds until both gateways know all states
ANSWERED = 0.1  # seconds of silence of a flow that is answered again
QUIET = 2.0  # seconds without a packet after which none comes any more: longer than TCP waits here before it sends again
GATEWAYS = tuple(SYNC)
MEMBER, MEMBER6, PUBLIC = IPv4Address("10.16.0.10"), IPv6Address("2001:db8:a0:10::10"), IPv4Address("198.51.100.7")
SSH = TransportProtocol.TCP
POLICY = Policy(
    GatewaySpec(
        "nat-1",
        Interfaces("lan0", "wan0", "mgmt0", "sync0"),
        Management((IPv4Network("172.31.0.0/24"),)),
        settings=GatewayGroupSettings(publics=(IPv4Network("198.51.100.0/24"),)),
    ),
    addresses=(MEMBER, MEMBER + 1),
    prefixes=(IPv6Network((int(MEMBER6) >> 64 << 64, 64)),),
    mappings=(NatMappingSpec(MEMBER, PUBLIC), NatMappingSpec(MEMBER + 1, PUBLIC + 1)),
    forwards=(ForwardSpec(1, SSH, PUBLIC, 2222, MEMBER, 22),),
    pinholes=(PinholeSpec(2, Hole(MEMBER6, SSH, 22)),),
)
SERVERS = ("203.0.113.10", "203.0.113.11")
OUT = ("tcp/203.0.113.10/7", "tcp/2001:db8:cafe::10/7", "udp/203.0.113.10/9")
IN = (f"tcp/{PUBLIC}/2222", f"tcp/{MEMBER6}/22")
# Counts the same octets as the sets of members, behind them, in a table of its own.
WITNESS = f"""
table inet witness {{
  chain forward {{
    type filter hook forward priority 300;
    ip saddr {MEMBER} counter
    ip daddr {MEMBER} counter
    ip6 saddr {MEMBER6} counter
    ip6 daddr {MEMBER6} counter
  }}
}}
"""


def run(interval: int) -> Iterator[Figure]:
    """Yield medians and maxima over ROUNDS of each kind. interval: centiseconds between advertisements."""
    if reason := find_obstacle():
        raise SystemExit(f"script/bench failover: {reason}")
    with Lab.start(load_topology()) as lab, prepare_failover_bench(lab, interval) as bench:
        planned = [bench.measure(bench.drain) for _ in range(ROUNDS)]
        crashed = [bench.measure(bench.crash) for _ in range(ROUNDS)]
        states, off = bench.count_states(), bench.compare_counters()
    yield Figure("tracked_connections", states, "")
    yield Figure("crash_median_s", median(each for each, _ in crashed), "s", "<= 1.0")
    yield Figure("crash_max_s", max(each for each, _ in crashed), "s", "<= 2")
    yield Figure("planned_median_s", median(each for each, _ in planned), "s", "<= 0.1")
    yield Figure("planned_max_s", max(each for each, _ in planned), "s", "<= 0.5")
    yield Figure("flows_lost", sum(lost for _, lost in [*crashed, *planned]), "", "== 0")
    yield Figure("bytes_off", off, "octets", "== 0")


@contextmanager
def prepare_failover_bench(lab: Lab, interval: int) -> Iterator["FailoverBench"]:
    """Load the gateways, start their programs, the other connections and the flows."""
    for name in GATEWAYS:
        ruleset = compile_policy(replace(POLICY, gateway=replace(POLICY.gateway, name=name)))
        lab.run(name, ["nft", "-f", "-"], text=render(ruleset, now=0) + WITNESS)
        lab.run(name, ["sysctl", "-q", "-w", "net.netfilter.nf_conntrack_tcp_loose=0"])
    route_to_virtual_addresses(lab)
    with ExitStack() as stack:
        bench = FailoverBench(lab, stack.enter_context(run_failover_pair(lab, interval=interval)))
        open_many_states(lab, "m2", *SERVERS, port=9, number=OTHERS // len(SERVERS))
        bench.await_states()
        bench.flows += [stack.enter_context(keep_flows_busy(lab, node, *flows)) for node, flows in (("m1", OUT), ("internet", IN))]
        yield bench


def await_answers(flows: BusyFlows) -> SilenceReport:
    """Return the report as soon as all flows are answered again, or were silent for so long that they are lost."""
    give_up = time.monotonic() + 2 * LATE
    while (report := flows.report()).lasting > ANSWERED and time.monotonic() < give_up:
        time.sleep(ANSWERED)
    return report


class FailoverBench:
    """The running pair, with flows through it."""

    def __init__(self, lab: Lab, programs: dict[str, FailoverPrograms]) -> None:
        self.lab, self.programs = lab, programs
        self.flows: list[BusyFlows] = []

    def measure(self, switch: Callable[[str, str], None]) -> tuple[float, int]:
        """Switch from the carrier to the other gateway. Return the longest silence of any flow in seconds, and how many were lost."""
        (carrier,) = list_carriers(self.lab, 4)
        standby = next(name for name in GATEWAYS if name != carrier)
        for each in self.flows:
            each.mark()
        switch(carrier, standby)
        reports = [await_answers(each) for each in self.flows]
        self.settle(carrier, standby)
        return max(each for report in reports for each in report.silence.values()), sum(len(report.lost) for report in reports)

    def drain(self, carrier: str, _standby: str) -> None:
        self.programs[carrier].call("drain")

    def crash(self, carrier: str, standby: str) -> None:
        self.programs[carrier].cut(*CABLES)
        await_sole_carrier(self.lab, standby)

    def settle(self, former: str, carrier: str) -> None:
        """Bring the former carrier back as the standby, with all states."""
        self.programs[former].mend(*CABLES)
        self.programs[former].call("resume")
        await_standby(self.programs[former])
        await_sole_carrier(self.lab, carrier)
        self.programs[carrier].call("refresh")
        self.await_states()

    def await_states(self) -> None:
        """Return when both gateways know all the connections."""
        give_up = time.monotonic() + PATIENCE
        while self.count_states() < OTHERS:
            if time.monotonic() > give_up:
                raise RuntimeError(f"both gateways know {self.count_states()} of {OTHERS} connections after {PATIENCE:.0f} s")
            time.sleep(0.05)

    def count_states(self) -> int:
        """Return the number of connections that both gateways know: the smaller of their two."""
        return min(int(self.lab.run(name, ["conntrack", "-C"]).stdout) for name in GATEWAYS)

    def compare_counters(self) -> int:
        """Return by how many octets the counters of the member's elements differ from the witness's, over both gateways."""
        for each in self.flows:
            each.stop()
        before = -1
        while (arrived := sum(map(self._count_witness, GATEWAYS))) != before:  # what is on its way arrives
            before = arrived
            time.sleep(QUIET)
        return sum(abs(self._count_members(name) - self._count_witness(name)) for name in GATEWAYS)

    def _count_members(self, name: str) -> int:
        keys = {str(MEMBER), str(IPv6Address(int(MEMBER6) >> 64 << 64))}
        sets = [each["set"] for each in self._list_table(name, "netzwart") if "set" in each]
        members = [each for each in sets if each["name"].startswith(("up4", "down4", "up6_", "down6_"))]
        elements = [each["elem"] for every in members for each in every.get("elem", ()) if isinstance(each, dict)]
        return sum(each["counter"]["bytes"] for each in elements if each["val"] in keys)

    def _count_witness(self, name: str) -> int:
        rules = [each["rule"] for each in self._list_table(name, "witness") if "rule" in each]
        return sum(part["counter"]["bytes"] for rule in rules for part in rule["expr"] if "counter" in part)

    def _list_table(self, name: str, table: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = json.loads(self.lab.run(name, ["nft", "-j", "list", "table", "inet", table]).stdout)["nftables"]
        return listed
