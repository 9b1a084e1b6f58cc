"""Run the portal and its servers from one state directory."""

import argparse
import asyncio
import os
import subprocess
import sys
from pathlib import Path

from portal.stack import database, environment, snapshot
from portal.stack.directory_lock import is_locked, lock_directory
from portal.stack.errors import StackError
from portal.stack.gateways import serve_gateways
from portal.stack.output import Output
from portal.stack.processes import supervise
from portal.stack.program import Program
from portal.stack.serve import serve
from portal.stack.sshd import wrap_in_portal_node
from portal.stack.state_paths import StatePaths


def parse_port(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"'{text}' is not a port: a port is a number from 1 to 65535")
    return int(text)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m portal.stack", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    everything = commands.add_parser("serve", help="start the whole portal, and stop it with Ctrl-C")
    everything.add_argument("--port", type=parse_port, default=8000, help="on 127.0.0.1 (default 8000)")
    servers = commands.add_parser("database", help="start PostgreSQL and Redis only, and print the environment as export lines")
    with_database = commands.add_parser("run", help="start PostgreSQL and Redis, run a command with their environment, stop them")
    lab = commands.add_parser("gateways", help="start only the demo's network and its gateways, and stop them with Ctrl-C")
    lab.add_argument("--group", default="", help="the group that may connect to the gateways' sockets")
    with_database.add_argument("argv", nargs="+", metavar="COMMAND", help="the command, after --")
    commands.add_parser("snapshot", help="write migrations/schema.sql, from which an empty database is made")
    for command in (everything, servers, with_database, lab):
        command.add_argument("--var", type=Path, default=Path("var"), help="the state directory (default var)")
    for command in (servers, with_database):
        command.add_argument("--throwaway", action="store_true", help="faster, but a power cut may destroy the database: for tests")
    return parser


async def serve_database(places: StatePaths, output: Output, *, throwaway: bool) -> None:
    with lock_directory(places):
        async with supervise(os.environ, output) as supervisor:
            await database.start_servers(supervisor, places, throwaway=throwaway)
            sys.stdout.write(environment.render_exports(environment.build_variables(places)))
            sys.stdout.flush()
            await asyncio.get_running_loop().create_future()


async def run(places: StatePaths, command: list[str], output: Output, *, throwaway: bool) -> int:
    """Run the command and return its status.

    If the servers of the state directory are already up, uses them, in the network node of the workers; but never with
    `throwaway`.
    """
    values = {**os.environ, **environment.build_variables(places)}
    if is_locked(places) and not throwaway:
        return subprocess.run(wrap_in_portal_node(places, tuple(command)), env=values, check=False).returncode
    with lock_directory(places):
        async with supervise(values, output) as supervisor:
            await database.start_servers(supervisor, places, throwaway=throwaway)
            return await supervisor.run_in_foreground(Program("command", tuple(command)))
    return 1  # a signal ended it


def main() -> int:
    asked = build_parser().parse_args()
    try:
        if asked.command == "snapshot":
            asyncio.run(snapshot.write(Output()))
            return 0
        places = StatePaths.from_directory(asked.var)
        if asked.command == "serve":
            asyncio.run(serve(places, asked.port, Output()))
            return 0
        if asked.command == "gateways":
            asyncio.run(serve_gateways(places, asked.group, Output()))
            return 0
        output = Output(sys.stderr)
        if asked.command == "database":
            asyncio.run(serve_database(places, output, throwaway=asked.throwaway))
            return 0
        return asyncio.run(run(places, asked.argv, output, throwaway=asked.throwaway))
    except StackError as failure:
        sys.stderr.write(f"\n{failure}\n")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
