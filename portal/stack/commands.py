"""All commands that `serve` starts, as data: to start something else, change it here and nowhere else.

In: the paths of a state directory and a port. Pure except for `read_accept_queue_limit`, which reads the kernel's limit.
"""

import sys
from dataclasses import replace
from pathlib import Path

from firewall.failover import ProgramPaths
from lab.failover import get_request_directory
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable
GATEWAYS = ("nat-1", "nat-2")
CHANGES, READINGS, MAIL, FEEDS = "celery", "readings", "mail", "feeds"  # the queues of workers.app, which cannot be imported without Django
PORTAL = "portal"  # the lab's node on the management network
NOTICE = "notice"  # the lab's node that answers blocked members' HTTP
RESPONDER_PORT = 7077  # as the demo's group has it
PROBES = {"nat-1": "probe-1", "nat-2": "probe-2"}  # the lab's node from which each gateway is probed
WEB_WORKERS, WEB_THREADS = 2, 8
WEB_WORKER, NOTICE_WORKER = "portal.web.worker.WebWorker", "portal.web.worker.NoticeWorker"
PROTOCOL = "portal.web.deadlines:DeadlineProtocol"
SILENT_SECONDS = 120  # a worker whose event loop did not run for so long is replaced; a busy machine starves one for tens of seconds
# Longer than proxies keep an idle connection to us (nginx 60 s, Caddy 120 s): if we close it while a request is on its way, and the request
# changes something, proxies do not repeat it (RFC 9110, 9.2.2), so a form would be answered with 502.
KEEP_ALIVE_SECONDS = 150
# gunicorn's own default is 2048; a queue shorter than the kernel allows makes it answer with SYN cookies under load.
SMALLEST_BACKLOG = 2048
EVENTS_CONNECTIONS = 4000  # the streams of NETZWART_EVENTS_STREAMS, and those that are refused
# Messages every few seconds would bury the important ones; failed tasks are shown.
ROUTINE = r"Task \S+ (received|succeeded)"
OBSERVED = r"\S+ \S+ INFO roles: "
# True, but the operator cannot change it: the demo's network needs root.
ROOT_WARNING = "You're running the worker with superuser privileges"


def build_manage(name: str, *arguments: str) -> Program:
    """Return a manage.py command without Django's checks of models and pages, which load all code. Tests run these checks instead."""
    return Program(name, (PYTHON, str(ROOT / "manage.py"), *arguments, "--skip-checks"))


def build_migrate() -> Program:
    return build_manage("migrate", "migrate", "--no-input", "--verbosity", "0")


def build_seed(port: int, host_keys: Path | None, failover: Path | None) -> Program:
    """Return the idempotent command that writes StatePaths.demo.

    host_keys: StatePaths.sshd, if gateways are reached by ssh; failover: StatePaths.failover, if they stand in for each other.
    """
    by_ssh = ("--host-keys", str(host_keys)) if host_keys else ()
    in_turn = ("--failover", str(failover)) if failover else ()
    return build_manage("seed", "seed", "--demo", "--url", f"http://127.0.0.1:{port}/", *by_ssh, *in_turn)


def build_lab(places: StatePaths, *arguments: str) -> Program:
    return Program("lab", build_lab_command(places, *arguments), hush=".*")


def build_lab_stopper(places: StatePaths) -> Program:
    """Return the program that takes the lab down when it is stopped, or when the supervisor has died."""
    return Program("lab", (PYTHON, "-m", "portal.stack.wait_then_exec", *build_lab_command(places, "down")), hush=".*")


def build_lab_command(places: StatePaths, *arguments: str) -> tuple[str, ...]:
    return (PYTHON, "-m", "lab", "--name", places.lab_name, "--state", str(places.lab), *arguments)


def build_node_command(places: StatePaths, node: str, command: tuple[str, ...]) -> tuple[str, ...]:
    return build_lab_command(places, "exec", node, "--", *command)


def build_gateway(places: StatePaths, name: str, *more: str) -> Program:
    """Return the agent of a gateway, inside the lab's node of that name."""
    paths = ProgramPaths.build_for_lab(name)
    beside = ("--prober", str(get_prober_socket(places, name)), "--failover", paths.settings)
    installs = ("--installs", get_request_directory(name), "--outcome", f"{paths.runtime}/trial")
    return Program(name, build_node_command(places, name, _build_agent_command(places, name, *beside, *installs, *more)), hush=OBSERVED)


def build_prober(places: StatePaths, name: str) -> Program:
    """Return the prober that connects through this gateway, from the lab's node beside it."""
    command = (PYTHON, "-m", "gateway", "prober", "--socket", str(get_prober_socket(places, name)))
    return Program(PROBES[name], build_node_command(places, PROBES[name], command))


def build_responder(places: StatePaths) -> Program:
    """Return the program on the lab's internet that connects back to the probes when their probers ask."""
    command = (PYTHON, "-m", "gateway", "responder", "--port", str(RESPONDER_PORT))
    return Program("responder", build_node_command(places, "internet", command))


def get_prober_socket(places: StatePaths, name: str) -> Path:
    return places.gateway_sockets / f"{PROBES[name]}.sock"


def build_memory_gateway(places: StatePaths, name: str) -> Program:
    """Return the same agent with its ruleset in memory instead of in the kernel."""
    return Program(name, _build_agent_command(places, name, "--fake"))


def get_gateway_socket(places: StatePaths, name: str) -> Path:
    return places.gateway_sockets / f"{name}.sock"


def _build_agent_command(places: StatePaths, name: str, *more: str) -> tuple[str, ...]:
    socket, state = get_gateway_socket(places, name), places.gateway_states / name
    return (PYTHON, "-m", "gateway", "serve", *more, "--name", name, "--socket", str(socket), "--state", str(state))


def build_web(port: int) -> Program:
    """Return the web server. It loads the code once and then forks, which halves the work at the start and saves memory."""
    options = ("--preload", "--worker-class", WEB_WORKER, "--workers", str(WEB_WORKERS), "--threads", str(WEB_THREADS))
    bind = ("--bind", f"127.0.0.1:{port}", "--backlog", str(max(read_accept_queue_limit(), SMALLEST_BACKLOG)))
    log = ("--log-level", "warning", "--access-logfile", "-")
    quiet = ("--no-control-socket", "--graceful-timeout", "2", "--timeout", str(SILENT_SECONDS), "--keep-alive", str(KEEP_ALIVE_SECONDS))
    return Program("web", (PYTHON, "-m", "gunicorn", *options, *bind, *log, *quiet, "portal.wsgi:application"))


def build_events(port: int) -> Program:
    """Return the process of live events and of requests that wait, for any number of streams.

    Our settings say which proxies are trusted.
    """
    bind = ("--host", "127.0.0.1", "--port", str(port), "--backlog", str(max(read_accept_queue_limit(), SMALLEST_BACKLOG)))
    most = ("--http", PROTOCOL, "--limit-concurrency", str(EVENTS_CONNECTIONS), "--timeout-graceful-shutdown", "2")
    rest = ("--timeout-keep-alive", str(KEEP_ALIVE_SECONDS))
    quiet = ("--no-proxy-headers", "--no-server-header", "--no-access-log", "--log-level", "warning", "--lifespan", "on")
    return Program("events", (PYTHON, "-m", "uvicorn", *bind, *most, *rest, *quiet, "portal.asgi:application"))


def choose_events_port(port: int) -> int:
    """Return the first port to try: far from the web server's, because a second portal may listen beside that."""
    return port + 1000 if port < 64_000 else port - 1000


def build_notice_server(places: StatePaths) -> Program:
    """Return the notice page for blocked members, on the lab's host to which the gateways redirect their HTTP. It keeps no connection."""
    options = ("--worker-class", NOTICE_WORKER, "--workers", "1", "--threads", "4", "--bind", "[::]:80")
    quiet = ("--no-control-socket", "--graceful-timeout", "2", "--log-level", "warning", "--timeout", str(SILENT_SECONDS))
    command = (PYTHON, "-m", "gunicorn", *options, *quiet, "portal.notice:application")
    return Program("notice", build_node_command(places, NOTICE, command), environment={"NETZWART_LAB_NAME": ""})


def build_changes_worker() -> Program:
    """Return the worker that brings changes to the gateways."""
    return _build_celery_worker("worker", CHANGES, 4)


def build_collector() -> Program:
    """Return the worker that reads the gateways' counters, in a process of its own: it keeps Python busy, which would delay changes."""
    return _build_celery_worker("collector", READINGS, 4)


def build_mailer() -> Program:
    """Return the worker that sends mail, and may wait for a slow server while others work."""
    return _build_celery_worker("mailer", MAIL, 2)


def build_feed_worker() -> Program:
    """Return the worker that imports feeds: a large one takes minutes, and no other task waits behind it."""
    return _build_celery_worker("feeds", FEEDS, 2)


def _build_celery_worker(name: str, queue: str, threads: int) -> Program:
    alone = ("--without-gossip", "--without-mingle", "--without-heartbeat")  # workers need not communicate with each other
    tasks = ("--queues", queue, "--hostname", f"{name}@%h", "--pool", "threads", "--concurrency", str(threads))
    return Program(name, build_celery_command("worker", "--loglevel", "INFO", *tasks, *alone), hush=ROUTINE)


def wrap_program_in_lab(places: StatePaths, program: Program) -> Program:
    """Return the worker moved to the management network, from where it reaches gateways by ssh.

    It runs in the lab, so it enters no other node.
    """
    return replace(program, command=build_node_command(places, PORTAL, program.command), environment={"NETZWART_LAB_NAME": ""})


def build_ticker(places: StatePaths) -> Program:
    """Return the scheduler. It stores nothing that matters: each of its tasks only makes a worker check what is due."""
    return Program("beat", build_celery_command("beat", "--loglevel", "WARNING", "--schedule", str(places.beat_schedule)))


def build_celery_command(*arguments: str) -> tuple[str, ...]:
    return (PYTHON, "-W", f"ignore:{ROOT_WARNING}", "-m", "celery", "--quiet", "-A", "workers", *arguments)


def read_accept_queue_limit() -> int:
    """Return the kernel's limit for the queue of connections that wait to be accepted."""
    file = Path("/proc/sys/net/core/somaxconn")
    return int(file.read_text()) if file.exists() else SMALLEST_BACKLOG
