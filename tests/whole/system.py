"""The whole system on one machine: a lab, an agent in each gateway's node, and functions with which tests wait for them."""

import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from django.utils import timezone

from apps.gateways.packet_probes import rounds
from apps.gateways.packet_probes.models import ProbeStatus
from apps.gateways.packet_probes.observation import probe_all_gateways
from apps.network.models import Gateway
from firewall.failover import ProgramPaths
from lab import sshd as lab_sshd
from lab.answer import HostAnswer
from lab.connect import NoAnswerError
from lab.failover import get_request_directory
from lab.lab import Lab
from lab.program import ROOT
from portal.stack.sshd import CODE, SOCKETS, ensure_portal_key, render_relay_line

GATEWAYS = ("nat-1", "nat-2")
PROBES = {"nat-1": "probe-1", "nat-2": "probe-2"}
INTERNET = "203.0.113.10"
RESPONDER_PORT = 7077


def wait_for[Value](what: Callable[[], Value], *, seconds: float = 60) -> Value:
    """Return the first true value of `what`. Fail if there is none in time."""
    give_up = time.monotonic() + seconds
    while not (value := what()):
        assert time.monotonic() < give_up, f"waited {seconds} s in vain"
        time.sleep(0.02)
    return value


def choose_end(deploy: Callable[[], object]) -> datetime:
    """Deploy once, and return a time that another deploy on this machine, and a look at what it brought, surely do not reach."""
    begin = time.monotonic()
    deploy()
    return timezone.now() + timedelta(seconds=4 + 2 * (time.monotonic() - begin))


@contextmanager
def agents(lab: Lab, sockets: Path, *, shared: bool = False) -> Iterator[dict[str, Popen[str]]]:
    """Run each gateway's agent inside its node, answering at sockets/<name>.sock."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(agent(lab, name, sockets, shared=shared)) for name in GATEWAYS}


@contextmanager
def agent(lab: Lab, name: str, sockets: Path, *, shared: bool = False, boot: str = "", more: Iterable[str] = ()) -> Iterator[Popen[str]]:
    """Run one gateway's agent and its prober. Both are ended on exit; the agent's table stays. shared: sshd's account may connect too.

    boot: the boot id that the agent reads, to simulate a reboot; "": this machine's. more: options of the agent.
    """
    asked, answers = sockets / f"{name}.sock", sockets / f"{PROBES[name]}.sock"
    serve = ["serve", "--name", name, "--socket", str(asked), "--state", str(sockets / name), "--prober", str(answers)]
    failover = ProgramPaths.build_for_lab(name)
    serve += ["--failover", failover.settings, "--installs", get_request_directory(name), "--outcome", f"{failover.runtime}/trial"]
    serve += [*(["--group", lab_sshd.GROUP] if shared else []), *more]
    with prober(lab, name, sockets), _service(lab, name, sockets, serve, boot) as process:
        wait_for(partial(accepts, asked))
        yield process


@contextmanager
def prober(lab: Lab, name: str, sockets: Path) -> Iterator[Popen[str]]:
    """Run the prober of the gateway with this name, in the node beside it."""
    answers = sockets / f"{PROBES[name]}.sock"
    with _service(lab, PROBES[name], sockets, ["prober", "--socket", str(answers)]) as process:
        wait_for(partial(accepts, answers))
        yield process


@contextmanager
def responder(lab: Lab, sockets: Path, port: int = RESPONDER_PORT, *more: str) -> Iterator[Popen[str]]:
    """Run a responder on the internet, which connects back to probers."""
    with _service(lab, "internet", sockets, ["responder", "--port", str(port), *more]) as process:
        wait_for(partial(_takes_connections, lab, "internet", port))
        yield process


def quick_probes(patch: pytest.MonkeyPatch) -> None:
    """Let standing probes be made twenty times as often as usual, and wait a third as long for answers."""
    patch.setattr(rounds, "EVERY_MS", 100)
    patch.setattr(rounds, "LIMIT_MS", 300)


def read_probes(more: int, within: float = 10.0) -> None:
    """Read standing probes until each gateway that is probed has made so many more rounds, or the time is over: some make none."""
    probe_all_gateways()
    first, give_up = _number_rounds(), time.monotonic() + within
    while time.monotonic() < give_up and any(_number_rounds().get(key, 0) < number + more for key, number in first.items()):
        probe_all_gateways()


def _number_rounds() -> dict[tuple[int, int], int]:
    """Return the last round of each gateway and family."""
    return {(each.gateway_id, each.family): each.number for each in ProbeStatus.objects.all()}


def accepts(path: Path) -> bool:
    """Tell whether a program listens at this socket. Its file is there a moment before, and stays when the program is killed."""
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


def _takes_connections(lab: Lab, node: str, port: int) -> bool:
    """Tell whether a program in the node listens at this TCP port."""
    with inside(lab, node), socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _service(lab: Lab, node: str, sockets: Path, arguments: list[str], boot: str = "") -> Iterator[Popen[str]]:
    log = (sockets / f"{node}.log").open("a")
    command = [sys.executable, "-m", "gateway", *arguments]
    if boot:
        (sockets / boot).write_text(boot)
        bind = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
        command = ["unshare", "--mount", "sh", "-c", bind, str(sockets / boot), *command]
    with log, lab.popen(node, command, stdout=log, stderr=log) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


def reaches(lab: Lab, node: str, host: str, port: int, protocol: str = "tcp", **options: Any) -> HostAnswer | None:
    """Return the answer from this address and port, or None if none comes within a second. Where one must come, use `must_reach`."""
    try:
        return lab.connect(node, protocol, host, port, timeout=1.0, **options)
    except NoAnswerError:
        return None


def must_reach(lab: Lab, node: str, host: str, port: int, protocol: str = "tcp", **options: Any) -> HostAnswer:
    """Return the answer from this address and port. Raise `NoAnswerError` if none comes even to SYNs that are sent again."""
    return lab.connect(node, protocol, host, port, timeout=20.0, **options)


@contextmanager
def conversation(lab: Lab, node: str, host: str, port: int, *, source: str = "", patience: float = 10) -> Iterator[Callable[[], bool]]:
    """Hold a TCP connection open; the yielded function sends a line over it and returns whether the echo came in time.

    source: the address to connect from. patience: seconds.
    """
    with inside(lab, node):
        connection = socket.create_connection((host, port), timeout=5, source_address=(source, 0) if source else None)
    connection.settimeout(patience)
    with connection, connection.makefile("rwb") as stream:
        stream.readline()

        def goes_on() -> bool:
            try:
                stream.write(b"still there?\n")
                stream.flush()
                return stream.readline() == b"still there?\n"
            except OSError:
                return False

        yield goes_on


@contextmanager
def inside(lab: Lab, node: str) -> Iterator[None]:
    """Move this thread, and programs that it starts, into the node's network namespace. Databases behind unix sockets stay reachable."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{lab.holder.pid}/root/run/netns/{node}", os.O_RDONLY)
    os.setns(there, os.CLONE_NEWNET)
    try:
        yield
    finally:
        os.setns(home, os.CLONE_NEWNET)
        os.close(there)
        os.close(home)


@contextmanager
def sshd(lab: Lab, name: str, sockets: Path, *, port: int = 22) -> Iterator[Popen[str]]:
    """Run a real sshd in the gateway's node. The portal's key may relay to the agent at sockets/<name>.sock, as an account without
    rights.

    The agent must run with `--group` of `lab.sshd.GROUP` (`agent(…, shared=True)`). sshd's log is at sockets/<name>.sshd.log.
    """
    sockets.chmod(0o711)
    authorized_keys = sockets / f"{name}.authorized_keys"
    authorized_keys.write_text(render_relay_line(name, ensure_portal_key(sockets / "id_ed25519")))
    directory = sockets / f"{name}.sshd"
    lab_sshd.ensure_host_key(directory)
    command = lab_sshd.build_command(directory, authorized_keys, {CODE.name: ROOT, SOCKETS.name: sockets}, port=port)
    log = sockets / f"{name}.sshd.log"
    before = log.stat().st_size if log.exists() else 0
    with log.open("a") as output, lab.popen(name, command, stdout=output, stderr=output) as process:
        try:
            wait_for(lambda: process.poll() is not None or b"Server listening" in log.read_bytes()[before:])
            assert process.poll() is None, log.read_text()
            yield process
        finally:
            process.terminate()
            process.wait(60)


def reached_by_ssh(lab: Lab, gateways: Iterable[Gateway], sockets: Path) -> None:
    """Set these gateways to the link by ssh, at the node of their name. `settings.SSH_KEY` must be sockets/id_ed25519."""
    for gateway in gateways:
        gateway.link, gateway.address = (
            Gateway.Link.SSH,
            ip_address(lab.topology.get_node(gateway.name).list_ip_addresses(4, "management")[0]),
        )
        gateway.host_key = lab_sshd.ensure_host_key(sockets / f"{gateway.name}.sshd")
        gateway.save(update_fields=["link", "address", "host_key"])


def descendants(pid: int) -> list[int]:
    """Return the process ids of all descendants: proc(5), field 4 of stat."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, fresh = [], [pid]
    while fresh := [child for child, parent in parents.items() if parent in fresh]:
        found += fresh
    return found
