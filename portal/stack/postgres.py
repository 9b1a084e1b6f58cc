"""A private PostgreSQL cluster on a unix socket. In: the paths of a state directory. Out: a program to start.

The cluster is ours alone; a PostgreSQL of the system is neither used nor changed.
"""

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from portal.stack.errors import StackError
from portal.stack.postgres_account import ServerAccount, allow_traversal, make_private_directory
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

OLDEST_VERSION = 15  # required by Django 6.1
DEBIAN_BINARIES = Path("/usr/lib/postgresql")
DATABASE = OWNER = "netzwart"
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "max_wal_size": "512MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
}
# For databases that a power cut may destroy, such as those of tests: nothing waits for the disk.
# Tests provoke database errors on purpose, and report unexpected ones themselves.
THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "log_min_messages": "fatal"}
# Messages about starting and stopping; errors are shown.
HUSH = r"LOG: |FATAL:  the database system is (starting up|shutting down)"


@dataclass(frozen=True)
class Binaries:
    major: int
    directory: Path

    def get_tool_path(self, name: str) -> str:
        return str(self.directory / name)


def build_url(places: StatePaths) -> str:
    return f"host={places.sockets} dbname={DATABASE} user={OWNER}"


def list_installed_servers(under: Path = DEBIAN_BINARIES) -> list[Binaries]:
    """Return the PostgreSQL servers on this machine, newest first."""
    found = {int(path.parts[-3]): path.parent for path in under.glob("*/bin/initdb") if path.parts[-3].isdigit()}
    on_path = shutil.which("initdb")
    if not found and on_path:
        said = subprocess.run([on_path, "--version"], capture_output=True, text=True, check=True).stdout
        found = {int(number): Path(on_path).resolve().parent for number in re.findall(r"(\d+)", said)[:1]}
    return [Binaries(major, directory) for major, directory in sorted(found.items(), reverse=True)]


def choose_server(cluster: Path, servers: list[Binaries]) -> Binaries:
    """Return the server for this cluster: the version that created it, or the newest if there is no cluster yet."""
    usable = [server for server in servers if server.major >= OLDEST_VERSION]
    if not usable:
        had = f" (only {servers[0].major} was found)" if servers else ""
        raise StackError(
            f"PostgreSQL {OLDEST_VERSION} or newer is not installed{had}. Run script/bootstrap, or install the package postgresql."
        )
    version = cluster / "PG_VERSION"
    if not version.exists():
        return usable[0]
    made_by = version.read_text().strip()
    for server in usable:
        if str(server.major) == made_by:
            return server
    have = " and ".join(str(server.major) for server in usable)
    raise StackError(
        f"{cluster} was made by PostgreSQL {made_by}, but installed is {have}. "
        f"Install postgresql-{made_by}, or carry the data over with pg_upgradecluster's tools, "
        f"or, if nothing in it matters, move {cluster} away: a new one is made."
    )


def prepare(places: StatePaths) -> bool:
    """Create the cluster with an empty database if there is none, otherwise clean up after a crash. Return True if it was created.

    As root, also let the server's account traverse the directories above.
    """
    server = choose_server(places.postgres, list_installed_servers())
    account = _choose_account(places.postgres)
    make_private_directory(places.sockets, account)
    allow_traversal(places.postgres, account)
    fresh = not (places.postgres / "PG_VERSION").exists()
    if fresh:
        _make(places, server, account)
    else:
        _clear_stale_pid(places)
    return fresh


def build_program(places: StatePaths, *, throwaway: bool = False) -> Program:
    """Return the program of the server in the foreground. SIGINT is its fast shutdown, which does not wait for clients to disconnect."""
    server = choose_server(places.postgres, list_installed_servers())
    values = {**SETTINGS, "unix_socket_directories": str(places.sockets), **(THROWAWAY if throwaway else {})}
    options = (part for name, value in values.items() for part in ("-c", f"{name}={value}"))
    command = (server.get_tool_path("postgres"), "-D", str(places.postgres), *options)
    return Program("postgres", command, stop=signal.SIGINT, account=_choose_account(places.postgres), hush=HUSH)


def is_answering(places: StatePaths) -> bool:
    """Return whether the server accepts connections now."""
    server = choose_server(places.postgres, list_installed_servers())
    command = [server.get_tool_path("pg_isready"), "--quiet", "--timeout=1", "--host", str(places.sockets), "--username", OWNER]
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode == 0


def _choose_account(cluster: Path) -> ServerAccount:
    """Return the owner of the cluster; if there is no cluster yet, the account that shall own it."""
    if not cluster.exists():
        return ServerAccount.choose_for_server()
    owner = ServerAccount.from_owner(cluster)
    if os.geteuid() not in (0, owner.uid):
        raise StackError(f"{cluster} belongs to the account {owner.name}. Start as that account or as root, or use another --var.")
    return owner


def _make(places: StatePaths, server: Binaries, account: ServerAccount) -> None:
    """Create the cluster completely or not at all: it gets its name when it is complete."""
    growing = places.postgres.with_name(f"{places.postgres.name}.new")
    shutil.rmtree(growing, ignore_errors=True)
    shutil.rmtree(places.postgres, ignore_errors=True)  # without PG_VERSION it is not a cluster
    make_private_directory(growing, account)
    _run_as(
        account,
        server.get_tool_path("initdb"),
        "-D",
        str(growing),
        "-U",
        OWNER,
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
        "--auth=trust",
        "--no-sync",
    )
    _run_as(account, server.get_tool_path("postgres"), "--single", "-D", str(growing), "postgres", said=f"CREATE DATABASE {DATABASE};\n")
    growing.rename(places.postgres)


def _run_as(account: ServerAccount, *command: str, said: str = "") -> None:
    arguments = Program(Path(command[0]).name, command, account=account).build_arguments()
    done = subprocess.run(arguments, input=said, capture_output=True, text=True, check=False, cwd="/", timeout=120)
    if done.returncode != 0:
        raise StackError(f"{command[0]} ended with status {done.returncode}: {(done.stderr or done.stdout).strip()}")


def _clear_stale_pid(places: StatePaths) -> None:
    """Remove a postmaster.pid that no running server holds; raise StackError if one runs.

    PostgreSQL does this itself, but not if the pid belongs to another program of the same account by now.
    """
    file = places.postgres / "postmaster.pid"
    first = file.read_text().split("\n", 1)[0].strip() if file.exists() else ""
    if first.isdigit() and is_cluster_server(int(first), places.postgres):
        raise StackError(f"PostgreSQL (pid {first}) still serves {places.postgres}. End it with: kill -INT {first}")
    file.unlink(missing_ok=True)
    for left in places.sockets.glob(".s.PGSQL.*"):
        left.unlink()


def is_cluster_server(pid: int, cluster: Path) -> bool:
    """Return whether this process is the cluster's server: its working directory is the cluster's."""
    try:
        return Path(f"/proc/{pid}/cwd").resolve(strict=True) == cluster.resolve()
    except OSError:
        return False
