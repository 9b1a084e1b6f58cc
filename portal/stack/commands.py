"""What `serve` starts, as data: the portal's own programs (`portal.programs`), the demo's network and its gateways.

In: the paths of a state directory and a port. Pure.
"""

from dataclasses import replace
from pathlib import Path

from firewall.failover import ProgramPaths
from lab.failover import get_request_directory
from portal import programs
from portal.programs import PYTHON, ROOT, SILENT_SECONDS
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

GATEWAYS = ("nat-1", "nat-2")
PORTAL = "portal"  # the lab's node on the management network
NOTICE = "notice"  # the lab's node that answers blocked members' HTTP
RESPONDER_PORT = 7077  # as the demo's group has it
DEMO_GRACEFUL_SECONDS = 2  # Ctrl-C shall not take half a minute
NOTICE_WORKER = "portal.web.worker.NoticeWorker"
OBSERVED = r"\S+ \S+ INFO roles: "
PROBES = {"nat-1": "probe-1", "nat-2": "probe-2"}  # the lab's node from which each gateway is probed


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
    return Program("web", programs.build_web(port, graceful=DEMO_GRACEFUL_SECONDS, access_log=True))


def build_events(port: int) -> Program:
    return Program("events", programs.build_events(port, graceful=DEMO_GRACEFUL_SECONDS))


def build_changes_worker() -> Program:
    return Program("worker", programs.build_changes_worker())


def build_collector() -> Program:
    return Program("collector", programs.build_collector())


def build_mailer() -> Program:
    return Program("mailer", programs.build_mailer())


def build_feed_worker() -> Program:
    return Program("feeds", programs.build_feed_worker())


def build_ticker(places: StatePaths) -> Program:
    return Program("beat", programs.build_ticker(places.beat_schedule))


def choose_events_port(port: int) -> int:
    """Return the first port to try: far from the web server's, because a second portal may listen beside that."""
    return port + 1000 if port < 64_000 else port - 1000


def build_notice_server(places: StatePaths) -> Program:
    """Return the notice page for blocked members, on the lab's host to which the gateways redirect their HTTP. It keeps no connection."""
    options = ("--worker-class", NOTICE_WORKER, "--workers", "1", "--threads", "4", "--bind", "[::]:80")
    quiet = ("--no-control-socket", "--graceful-timeout", "2", "--log-level", "warning", "--timeout", str(SILENT_SECONDS))
    command = (PYTHON, "-m", "gunicorn", *options, *quiet, "portal.notice:application")
    return Program("notice", build_node_command(places, NOTICE, command), environment={"NETZWART_LAB_NAME": ""})


def wrap_program_in_lab(places: StatePaths, program: Program) -> Program:
    """Return the worker moved to the management network, from where it reaches gateways by ssh.

    It runs in the lab, so it enters no other node.
    """
    return replace(program, command=build_node_command(places, PORTAL, program.command), environment={"NETZWART_LAB_NAME": ""})
