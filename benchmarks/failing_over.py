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
from subprocess import PIPE, Popen
from typing import Any

from benchmarks.figures import Figure
from firewall.compile import compile_policy
from firewall.policy import (
    ForwardSpec,
    GatewaySpec,
    GroupSettings,
    Hole,
    Interfaces,
    Management,
    NatMappingSpec,
    PinholeSpec,
    Policy,
    TransportProtocol,
)
from firewall.render import render
from lab.failover import CABLES, INSIDE, FailoverPrograms, build_gateway, find_obstacle, route_to_virtual_addresses, run_failover
from lab.lab import Lab
from lab.program import build_module_command
from lab.topology import load_topology

ROUNDS, OTHERS = 10, 20_000
PATIENCE = 120.0  # seconds for everything that is waited for
SETTLE = 1.0  # seconds after a switch in which flows may still be silent
GATEWAYS = ("nat-1", "nat-2")
MEMBER, MEMBER6, PUBLIC = IPv4Address("10.16.0.10"), IPv6Address("2001:db8:a0:10::10"), IPv4Address("198.51.100.7")
SSH = TransportProtocol.TCP
POLICY = Policy(
    GatewaySpec(
        "nat-1",
        Interfaces("lan0", "wan0", "mgmt0", "sync0"),
        Management((IPv4Network("172.31.0.0/24"),)),
        settings=GroupSettings(publics=(IPv4Network("198.51.100.0/24"),)),
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


def run() -> Iterator[Figure]:
    """Yield medians and maxima over ROUNDS of each kind."""
    if reason := find_obstacle():
        raise SystemExit(f"script/bench failover: {reason}")
    with Lab.start(load_topology()) as lab, run_bench(lab) as bench:
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
def run_bench(lab: Lab) -> Iterator["FailoverBench"]:
    """Load the gateways, start their programs one after the other, and the flows."""
    for name in GATEWAYS:
        ruleset = compile_policy(replace(POLICY, gateway=replace(POLICY.gateway, name=name)))
        lab.run(name, ["nft", "-f", "-"], text=render(ruleset, now=0) + WITNESS)
        lab.run(name, ["sysctl", "-q", "-w", "net.netfilter.nf_conntrack_tcp_loose=0"])
    route_to_virtual_addresses(lab)
    with ExitStack() as stack:
        bench = FailoverBench(lab)
        for name in GATEWAYS:
            bench.programs[name] = stack.enter_context(run_failover(lab, name, build_gateway(name)))
            bench.wait(lambda: bench.list_carriers() == {4: ["nat-1"], 6: ["nat-1"]})
        bench.open_others()
        for node, flows in (("m1", OUT), ("internet", IN)):
            bench.flows.append(stack.enter_context(_keep_busy(lab, node, flows)))
        yield bench


@contextmanager
def _keep_busy(lab: Lab, node: str, flows: tuple[str, ...]) -> Iterator["Popen[str]"]:
    with lab.popen(node, build_module_command("lab.measure.silence", *flows), stdin=PIPE, stdout=PIPE) as process:
        try:
            if process.stdout is None or not process.stdout.readline():
                raise RuntimeError(f"the flows of {node} do not begin")
            yield process
        finally:
            process.terminate()


class FailoverBench:
    """The running pair, with flows through it."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.programs: dict[str, FailoverPrograms] = {}
        self.flows: list[Popen[str]] = []

    def measure(self, switch: Callable[[str, str], None]) -> tuple[float, int]:
        """Switch from the carrier to the other gateway. Return the longest silence of any flow in seconds, and how many were lost."""
        carrier = self.list_carriers()[4][0]
        standby = next(name for name in GATEWAYS if name != carrier)
        self._say("mark")
        switch(carrier, standby)
        time.sleep(SETTLE)
        reports = [json.loads(line) for line in self._say("report")]
        self.settle(carrier, standby)
        return max(each for report in reports for each in report["silence"].values()), sum(len(report["lost"]) for report in reports)

    def drain(self, carrier: str, _standby: str) -> None:
        self.programs[carrier].call("drain")

    def crash(self, carrier: str, standby: str) -> None:
        self.programs[carrier].cut(*CABLES)
        self.wait(lambda: all(standby in names for names in self.list_carriers().values()))

    def settle(self, former: str, carrier: str) -> None:
        """Bring the former carrier back as the standby, with all states."""
        self.programs[former].mend(*CABLES)
        self.programs[former].call("resume")
        self.wait(lambda: self.programs[former].call("status").count("standby since") == 2)
        self.wait(lambda: self.list_carriers() == {4: [carrier], 6: [carrier]})
        self.programs[carrier].call("refresh")
        self.wait(lambda: self.count_states() >= OTHERS)

    def open_others(self) -> None:
        """Let another member open many connections, which both gateways must know."""
        command = build_module_command("lab.measure.many_states", "9", str(OTHERS // len(SERVERS)), *SERVERS)
        self.lab.run("m2", command, timeout=PATIENCE)
        self.wait(lambda: self.count_states() >= OTHERS)

    def count_states(self) -> int:
        """Return the number of connections that both gateways know: the smaller of their two."""
        return min(int(self.lab.run(name, ["conntrack", "-C"]).stdout) for name in GATEWAYS)

    def list_carriers(self) -> dict[int, list[str]]:
        return {family: [name for name in GATEWAYS if self._has(name, address)] for family, address in INSIDE.items()}

    def _has(self, name: str, address: str) -> bool:
        return bool(self.lab.run(name, ["ip", "-o", "address", "show", "dev", "lan0", "to", address]).stdout)

    def compare_counters(self) -> int:
        """Return by how many octets the counters of the member's elements differ from the witness's, over both gateways."""
        for process in self.flows:
            process.terminate()
            process.wait()
        time.sleep(SETTLE)  # what is on its way arrives
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

    def _say(self, command: str) -> list[str]:
        """Say it to all flows; return their answers if it asks for any."""
        for stdin in [process.stdin for process in self.flows if process.stdin]:
            stdin.write(f"{command}\n")
            stdin.flush()
        return [process.stdout.readline() for process in self.flows if process.stdout] if command == "report" else []

    def wait(self, until: Callable[[], bool]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > give_up:
                said = "\n".join(f"{name}: {each.call('status')}" for name, each in self.programs.items())
                raise RuntimeError(f"waited {PATIENCE:.0f} s in vain; {self.count_states()} states on both\n{said}")
            time.sleep(0.05)
