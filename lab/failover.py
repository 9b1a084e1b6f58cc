"""keepalived and conntrackd in the gateways of a lab, with the files that `firewall.failover` renders, and the program they call.

Each gateway has its files in a directory of its own below the lab's private /run, which only root may write: keepalived runs no
script from elsewhere. The nodes around the gateways route to the virtual addresses instead of a gateway's own.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from ipaddress import IPv4Address

from firewall.failover import FailoverGateway, FailoverSpec, InterfaceSide, ProgramPaths, StateCacheMode, VirtualAddress, render_files
from firewall.policy import Interfaces
from lab.lab import Lab
from lab.program import ROOT
from lab.tables import TopologyError
from lab.topology import VirtualRouter, load_topology

PROGRAM = ROOT / "gateway/debian/netzwart-failover"
PACKAGES = ("keepalived", "conntrackd")
PATIENCE = 120.0  # seconds for a role
INTERFACES = Interfaces("lan0", "wan0", "mgmt0", "sync0", "srv0")
SYNC = {"nat-1": IPv4Address("172.31.255.1"), "nat-2": IPv4Address("172.31.255.2")}
PREFERS = {"nat-1": frozenset({4}), "nat-2": frozenset({6})}


def _load_virtual_router() -> VirtualRouter:
    found = load_topology().failover
    if found is None:
        raise TopologyError("failover: the demo network has no virtual addresses")
    return found


_VIRTUAL = _load_virtual_router()
_SIDES = {InterfaceSide.LAN: _VIRTUAL.inside, InterfaceSide.WAN: _VIRTUAL.outside, InterfaceSide.SERVER: _VIRTUAL.servers}
VIRTUAL_ROUTER = _VIRTUAL.number
ADDRESSES = tuple(VirtualAddress(side, each.ip, each.network.prefixlen) for side, held in _SIDES.items() for each in held)
OUTSIDE, SERVERS = ({each.version: str(each.ip) for each in _SIDES[side]} for side in (InterfaceSide.WAN, InterfaceSide.SERVER))
INSIDE = {4: next(str(each.ip) for each in _VIRTUAL.inside if each.version == 4), 6: f"fe80::{VIRTUAL_ROUTER:x}"}


def find_obstacle() -> str:
    """Return the reason why failover cannot run in a lab on this machine; "" if it can."""
    missing = [name for name in PACKAGES if not shutil.which(name)]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian packages of the same names)"
    return "" if os.geteuid() == 0 else "keepalived and conntrackd need root"


def build_gateway(name: str, *, cache: StateCacheMode = StateCacheMode.DIRECT, interval: int = 20) -> FailoverGateway:
    """Return the failover of a gateway of the demo network: nat-1 is preferred for IPv4, nat-2 for IPv6."""
    spec = FailoverSpec(ADDRESSES, virtual_router=VIRTUAL_ROUTER, interval=interval, cache=cache)
    return FailoverGateway(INTERFACES, SYNC[name], spec, PREFERS[name])


class UnexpectedRolesError(Exception):
    """The gateways did not take the roles that were expected; the message says which ones they have."""


@dataclass(frozen=True, slots=True)
class FailoverPrograms:
    """The running programs of one gateway."""

    lab: Lab
    name: str
    keepalived: "subprocess.Popen[str]"
    conntrackd: "subprocess.Popen[str]"

    @property
    def directory(self) -> str:
        return get_directory(self.name)

    def call(self, *arguments: str) -> str:
        """Call netzwart-failover on the gateway, and return what it prints."""
        return self.lab.run(self.name, [f"{self.directory}/netzwart-failover", *arguments]).stdout

    def cut(self, *interfaces: str) -> None:
        """Cut cables, so that nothing of this gateway gets out, and its neighbours lose the carrier: a machine without power."""
        self._switch(interfaces, "down")

    def mend(self, *interfaces: str) -> None:
        """Plug the cables in again."""
        self._switch(interfaces, "up")

    def _switch(self, interfaces: Iterable[str], state: str) -> None:
        for interface in interfaces:
            node, port = find_switch_end(self.lab, self.name, interface)
            self.lab.run(node, ["ip", "link", "set", port, state])


CABLES = (INTERFACES.lan, INTERFACES.wan, INTERFACES.sync, INTERFACES.server)


def find_switch_end(lab: Lab, name: str, interface: str) -> tuple[str, str]:
    """Return the node and interface where to cut a gateway's cable: the port of the switch, or this end if it leads to the other gateway.

    The other end of a cable only loses its carrier, as from a machine without power.
    """
    network = next(each.network for each in lab.topology.get_node(name).interfaces if each.name == interface)
    bridge = next(each.bridge for each in lab.topology.networks if each.name == network)
    return (bridge, f"{name}.{interface}") if bridge else (name, interface)


def get_directory(name: str) -> str:
    """Return the directory of the gateway's files, in the lab's own /run."""
    return ProgramPaths.build_for_lab(name).runtime


def get_request_directory(name: str) -> str:
    """Return the directory in which the gateway's agent leaves values for netzwart-failover."""
    return f"{get_directory(name)}/requests"


@contextmanager
def run_failover(lab: Lab, name: str, gateway: FailoverGateway) -> Iterator[FailoverPrograms]:
    """Run conntrackd and keepalived in the gateway's node until the block ends."""
    at, paths = get_directory(name), ProgramPaths.build_for_lab(name)
    write_files(lab, name, render_files(gateway, paths))
    pids = [f"-{option}{at}/keepalived-{option}.pid" for option in "prc"]
    with ExitStack() as stack:
        conntrackd = stack.enter_context(_run(lab, name, "conntrackd", "-C", paths.conntrackd))
        lab.run(name, ["sh", "-c", 'until conntrackd -C "$0" -s >/dev/null 2>&1; do sleep 0.05; done', paths.conntrackd])
        lab.run(name, [f"{at}/netzwart-failover", "prepare"])  # as its service does
        keepalived = stack.enter_context(_run(lab, name, "keepalived", "-n", "-l", "-f", paths.keepalived, *pids))
        yield FailoverPrograms(lab, name, keepalived, conntrackd)


@contextmanager
def run_failover_pair(
    lab: Lab, *, cache: StateCacheMode = StateCacheMode.DIRECT, interval: int = 20
) -> Iterator[dict[str, FailoverPrograms]]:
    """Run the programs of both gateways until the block ends, by name. The first is started first, so it carries both families.

    Raise UnexpectedRolesError if they do not get there.
    """
    running: dict[str, FailoverPrograms] = {}
    with ExitStack() as stack:
        for name in SYNC:
            running[name] = stack.enter_context(run_failover(lab, name, build_gateway(name, cache=cache, interval=interval)))
            await_sole_carrier(lab, next(iter(SYNC)))
        await_standby(running[name])
        yield running


def list_carriers(lab: Lab, family: int) -> list[str]:
    """Return the gateways whose kernel has the family's virtual address inside."""
    command = ["ip", "-o", "address", "show", "dev", INTERFACES.lan, "to", INSIDE[family]]
    return [name for name in SYNC if lab.run(name, command).stdout]


def await_sole_carrier(lab: Lab, name: str, *families: int) -> None:
    """Return when this gateway, and no other, carries the families; without one, both. Raise UnexpectedRolesError if it does not."""
    chosen = families or (4, 6)
    if not _await(lambda: all(list_carriers(lab, family) == [name] for family in chosen)):
        found = ", ".join(f"IPv{family}: {' and '.join(list_carriers(lab, family)) or 'nobody'}" for family in chosen)
        raise UnexpectedRolesError(f"{name} alone was expected to carry; {found}")


def await_standby(programs: FailoverPrograms) -> None:
    """Return when the gateway stands by for both families. Raise UnexpectedRolesError if it does not."""
    if not _await(lambda: programs.call("status").count(": standby since") == 2):
        raise UnexpectedRolesError(f"{programs.name} was expected to stand by:\n{programs.call('status')}")


def _await(condition: Callable[[], bool]) -> bool:
    """Return True as soon as the condition holds, False if it does not within PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def write_files(lab: Lab, name: str, files: Mapping[str, str]) -> None:
    """Write files on a gateway, by their paths, and netzwart-failover beside them."""
    program = f"{get_directory(name)}/netzwart-failover"
    for path, text in {**files, program: render_wrapper(name)}.items():
        lab.run(name, ["sh", "-c", 'mkdir -p "${0%/*}" && cat > "$0"', path], text=text)
    lab.run(name, ["chmod", "755", program])


@contextmanager
def _run(lab: Lab, name: str, *command: str) -> Iterator["subprocess.Popen[str]"]:
    log = f"{get_directory(name)}/{command[0]}.log"
    with lab.popen(name, ["sh", "-c", 'log=$0; exec "$@" >>"$log" 2>&1', log, *command], stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def render_wrapper(name: str) -> str:
    """Return netzwart-failover as this gateway has it: the packaged program with the paths of this gateway."""
    paths = asdict(ProgramPaths.build_for_lab(name))
    at = paths["runtime"]
    render = " ".join((sys.executable, "-m", "gateway", "failover-files", *(f"--{each} {path}" for each, path in paths.items())))
    given = {"CONF": paths["settings"], "ETC": f"{at}/etc", "RUNTIME": at, "RENDER": render}
    lines = "".join(f"export NETZWART_FAILOVER_{key}='{value}'\n" for key, value in given.items())
    return f'#!/bin/sh\n{lines}export PYTHONPATH={ROOT} PATH="{at}/bin:$PATH"\nexec sh {PROGRAM} "$@"\n'


def route_to_virtual_addresses(lab: Lab) -> None:
    """Let members and the uplink send to the virtual addresses, whichever gateway holds them."""
    pools = lab.topology.pools
    for member in lab.topology.list_by_role("member"):
        lab.run(member.name, ["ip", "route", "replace", "default", "via", INSIDE[4]])
        lab.run(member.name, ["ip", "-6", "route", "replace", "default", "via", INSIDE[6], "dev", "eth0"])
    lab.run("uplink", ["ip", "route", "replace", str(pools.public), "via", OUTSIDE[4]])
    lab.run("uplink", ["ip", "-6", "route", "replace", str(pools.ipv6), "via", OUTSIDE[6]])


def route_servers_to_virtual_addresses(lab: Lab) -> None:
    """Let the network's own servers, and the uplink for them, send to the virtual addresses."""
    (servers,) = (network.prefixes for network in lab.topology.networks if network.name == "servers")
    for prefix in servers:
        lab.run("uplink", ["ip", "route", "replace", str(prefix), "via", OUTSIDE[prefix.version]])
    for server in lab.topology.list_by_role("service"):
        for version, router in SERVERS.items():
            lab.run(server.name, ["ip", f"-{version}", "route", "replace", "default", "via", router])
