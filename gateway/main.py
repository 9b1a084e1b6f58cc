"""The agent's commands: serve, relay, restore, check, prober, responder, headers, failover-files, self-check (docs/agent.md)."""

import argparse
import asyncio
import grp
import logging
import os
import platform
import signal
import socket
import sys
import time
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from uuid import uuid4

from firewall import wire
from firewall.codec import WireError
from firewall.digest import format_digest
from firewall.failover import ProgramPaths
from gateway import prober
from gateway.clock import GatewayClock
from gateway.counters import save_deleted_counts
from gateway.evidence.header_service import answer_one_request
from gateway.failover_files import OUTCOME, FailoverFileRequests, FileRequestError, render_request
from gateway.failover_roles import SETTINGS
from gateway.handover import leave_note
from gateway.interpreter import prepare_interpreter, set_ruleset_aside
from gateway.kernel import KernelTable
from gateway.libnftables import find_library_file
from gateway.log_texts import to_plain_line
from gateway.machine import read_boot_id
from gateway.memory_table import FakeKernel
from gateway.operations import Agent
from gateway.pending_cut import cut_what_was_pending
from gateway.persistent_state import StateDirectory, StateError
from gateway.programs.requests import build_agent_programs
from gateway.programs.self_check import check_itself
from gateway.relay import relay
from gateway.responder import Responder, parse_allowed
from gateway.restore import restore_ruleset
from gateway.server import AgentServer
from gateway.table import TableError

PATHS = tuple(field.name for field in fields(ProgramPaths))
log = logging.getLogger("gateway")


class StartError(Exception):
    """The command cannot do its work. The message says why, and what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 on success."""
    given = _build_parser().parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return int(given.command(given))
    except (StartError, StateError, TableError) as error:
        log.critical("%s", error)
        return 1


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gateway", description="Netzwart's agent: it changes the ruleset of a gateway for the portal")
    commands = parser.add_subparsers(required=True, metavar="command")
    command = commands.add_parser("serve", help="run the agent: it keeps the table and answers the portal")
    command.add_argument("--name", required=True, help="this gateway's name in the portal")
    command.add_argument("--socket", required=True, type=Path, help="unix socket to listen at")
    command.add_argument("--state", required=True, type=Path, help="state directory: the confirmed ruleset, kept across reboots")
    command.add_argument("--group", help="group that may connect (default: only the agent's own user)")
    command.add_argument("--prober", type=Path, metavar="SOCKET", help="socket of this gateway's prober, if it has one")
    command.add_argument(
        "--failover", type=Path, default=SETTINGS, metavar="FILE", help="settings of netzwart-failover (default: %(default)s)"
    )
    command.add_argument("--installs", type=Path, metavar="DIR", help="where netzwart-failover looks for files to install, if it does")
    command.add_argument(
        "--outcome", type=Path, default=OUTCOME, metavar="FILE", help="where it says how far it got (default: %(default)s)"
    )
    command.add_argument("--headers", type=Path, metavar="SOCKET", help="socket of the process that takes packet headers, if not the agent")
    command.add_argument("--fake", action="store_true", help="keep the table in memory and leave the kernel alone: for tests and demos")
    command.set_defaults(command=serve)
    command = commands.add_parser("relay", help="connect standard input and output to the agent's socket: the portal's ssh key runs this")
    command.add_argument("--socket", required=True, type=Path)
    command.set_defaults(command=lambda given: relay(given.socket))
    command = commands.add_parser("restore", help="at boot: load the last confirmed ruleset into the kernel")
    command.add_argument("--state", required=True, type=Path)
    command.set_defaults(command=restore)
    command = commands.add_parser("prober", help="run the prober, in the probe's namespace: it connects for the agent")
    command.add_argument("--socket", required=True, type=Path, help="unix socket to listen at")
    command.add_argument("--group", help="group that may connect (default: only the prober's own user)")
    command.set_defaults(command=probe)
    command = commands.add_parser("responder", help="on a host outside: connect back to the gateways' probers when they ask")
    command.add_argument("--port", required=True, type=int, help="TCP port to listen at, and to connect back to: 1024 to 65535")
    command.add_argument(
        "--allow", action="append", default=[], metavar="PREFIX", help="who may ask; may be given again (default: anybody)"
    )
    command.set_defaults(command=respond)
    command = commands.add_parser("headers", help="take packet headers for the peer at standard input: netzwart-headers.socket runs this")
    command.set_defaults(command=take_packet_headers)
    command = commands.add_parser(
        "failover-files", help="write the files of failover that the portal asked for: netzwart-failover runs this"
    )
    command.add_argument("--request", required=True, type=Path, metavar="FILE", help="what the agent left there")
    command.add_argument("--directory", required=True, type=Path, help="where to write the files")
    for name in PATHS:
        default = getattr(ProgramPaths(), name)
        command.add_argument(f"--{name}", default=default, metavar="PATH", help="as the files name it (default: %(default)s)")
    command.set_defaults(command=write_failover_files)
    command = commands.add_parser("check", help="check that this machine has what the agent needs")
    command.set_defaults(command=check)
    command = commands.add_parser(
        "self-check", help="import all of this program, and read what the agent has stored: the launcher runs this"
    )
    command.add_argument("--state", required=True, type=Path)
    command.set_defaults(command=check_program)
    return parser


def serve(given: argparse.Namespace) -> int:
    """Own the table until SIGTERM. The table stays in place, except that a change on trial is taken back."""
    prepare_interpreter()
    with closing(StateDirectory(given.state)) as state, closing(_create_table(fake=given.fake)) as table:
        boot = _get_boot_id(fake=given.fake)
        installer = FailoverFileRequests(given.installs, given.outcome)
        agent = Agent(
            table,
            state,
            name=given.name,
            boot=boot,
            clock=time.time,
            probes=given.prober,
            failover=given.failover,
            installer=installer,
            headers=given.headers,
            programs=build_agent_programs(),
        )
        brought = agent.changes.restore()
        set_ruleset_aside()
        log.log(logging.CRITICAL if brought.fault else logging.INFO, "%s", to_plain_line(brought.sentence))
        asyncio.run(_serve(agent, given))
        if agent.changes.is_on_trial:
            brought = agent.changes.take_back("the agent was stopped")
            log.warning("the change on trial was not confirmed and is taken back: %s", to_plain_line(brought.text))
        agent.changes.hand_over()
    return 0


async def _serve(agent: Agent, given: argparse.Namespace) -> None:
    server = AgentServer(agent)
    stop = _create_stop_event()
    listener = _listen(given.socket, given.group)
    served = await asyncio.start_unix_server(server.handle_peer, sock=listener, limit=wire.MAX_LINE)
    log.info("listening at %s", given.socket)
    server.start_takeover_watch()
    server.start_block_watch()
    server.start_queue_watch()
    await _await_first(stop, server.restart)
    served.close()
    await server.end()
    given.socket.unlink(missing_ok=True)
    log.info("stopped; the table stays as it is")


async def _await_first(*events: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(each.wait()) for each in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for each in waiting:
        each.cancel()


def _create_stop_event() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def probe(given: argparse.Namespace) -> int:
    """Answer the agent's probes until SIGTERM."""
    asyncio.run(_probe(given))
    return 0


async def _probe(given: argparse.Namespace) -> None:
    stop = _create_stop_event()  # before anybody is told that it listens, and may end it
    listener = _listen(given.socket, given.group)
    log.info("the prober listens at %s", given.socket)
    await prober.serve(listener, stop)
    given.socket.unlink(missing_ok=True)


def respond(given: argparse.Namespace) -> int:
    """Connect back to probers until SIGTERM."""
    if given.port not in prober.RESPONDER_PORTS:
        raise StartError(f"--port {given.port} is not between {prober.RESPONDER_PORTS[0]} and {prober.RESPONDER_PORTS[-1]}")
    try:
        asyncio.run(_respond(Responder(given.port, parse_allowed(given.allow))))
    except ValueError as error:
        raise StartError(f"--allow: {error}") from error
    except OSError as error:
        raise StartError(f"port {given.port}: {error.strerror or error}") from error
    return 0


async def _respond(responder: Responder) -> None:
    await responder.serve(_create_stop_event())


def _listen(path: Path, group: str | None) -> socket.socket:
    """Return a listening socket that only its owner, or the group, may connect to. The socket file of a dead agent is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _remove_stale(path)
        listener.bind(str(path))
        if group:
            os.chown(path, -1, grp.getgrnam(group).gr_gid)
            path.chmod(0o660)
        listener.listen(socket.SOMAXCONN)
    except OSError as error:
        raise StartError(f"{path}: {error.strerror or error}") from error
    except KeyError as error:
        raise StartError(f"unknown group: {group}") from error
    finally:
        os.umask(before)
    return listener


def _remove_stale(path: Path) -> None:
    if path.exists() and not path.is_socket():
        raise StartError(f"{path} exists and is not a socket; remove it or choose another path")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except FileNotFoundError:
            return
        except ConnectionRefusedError:
            path.unlink()
            return
    raise StartError(f"{path}: another agent listens there; stop it first")


def restore(given: argparse.Namespace) -> int:
    """Load what was confirmed last. Return 1 if that was impossible and forwarding is closed, or the kernel keeps the rules it holds."""
    with closing(StateDirectory(given.state)) as state, closing(KernelTable()) as kernel:
        clock = GatewayClock(time.time, time.monotonic)
        brought = restore_ruleset(kernel, state, clock)
        save_deleted_counts(kernel, state.ledger, read_boot_id())
        if brought.confirmed and brought.ruleset:
            cut_what_was_pending(kernel, state, brought.endings, brought.ruleset.elements)
            leave_note(kernel, state, format_digest(brought.confirmed.digest), clock)
    log.log(logging.CRITICAL if brought.fault else logging.INFO, "%s", to_plain_line(brought.sentence))
    return 1 if brought.fault else 0


def take_packet_headers(_: argparse.Namespace) -> int:
    """Answer the agent at standard input, a socket. Return 1, and say why, if its request cannot be used."""
    try:
        with socket.socket(fileno=os.dup(sys.stdin.fileno())) as peer:
            answer_one_request(peer)
    except (OSError, WireError) as error:
        log.error("no packet headers: %s", to_plain_line(str(error)))
        return 1
    return 0


def write_failover_files(given: argparse.Namespace) -> int:
    """Render the files of a request into the directory. Return 1, and say why, if its values cannot be used."""
    try:
        render_request(given.request, given.directory, ProgramPaths(**{name: getattr(given, name) for name in PATHS}))
    except FileRequestError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def check(_: argparse.Namespace) -> int:
    """Print what this machine offers. Return 1 if something that the agent needs is missing."""
    say = sys.stdout.write
    say(f"Python {platform.python_version()}, Linux {platform.release()}\n")
    try:
        say(f"libnftables: {find_library_file()}\n")
        with closing(KernelTable()) as kernel:
            held = kernel.read(_read_clock())
    except TableError as error:
        say(f"missing: {error}\n")
        return 1
    say(f"nftables: our table has {len(held.chains)} chains and {held.count_elements()} elements\n")
    return 0


def check_program(given: argparse.Namespace) -> int:
    """Print this program's version if all of it can run here. Raises StateError if what is stored cannot be read."""
    sys.stdout.write(f"{check_itself(given.state)}\n")
    return 0


def _create_table(*, fake: bool) -> FakeKernel | KernelTable:
    return FakeKernel() if fake else KernelTable()


def _get_boot_id(*, fake: bool) -> str:
    """Return the kernel's boot id. A table in memory is lost with its process, so it gets a new id."""
    return str(uuid4()) if fake else read_boot_id()


def _read_clock() -> int:
    return int(time.time())
