"""Starts the whole portal on one machine, its parts in the order in which they depend on each other."""

import asyncio
import http.client
import os
import shutil
import time
from functools import partial

from portal import programs
from portal.stack import commands, database, failover, gateways, ports, postgres, sshd
from portal.stack.demo import Demo
from portal.stack.directory_lock import lock_directory
from portal.stack.environment import build_variables
from portal.stack.output import Output
from portal.stack.processes import Supervisor, run_concurrently, supervise
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths


async def serve(places: StatePaths, port: int, output: Output) -> None:
    """Run until Ctrl-C or SIGTERM. Raises StackError, which names the part that could not be started or that died."""
    ports.require_free_port(port)
    os.chdir(programs.ROOT)
    started = time.monotonic()
    with lock_directory(places):
        no_lab = gateways.explain_missing_lab(places)
        events = ports.find_free_port(commands.choose_events_port(port))
        given = {**build_addresses(port, events), **os.environ}
        environment = {**given, "PYTHONUNBUFFERED": "1", **build_variables(places, lab=not no_lab)}
        async with supervise(environment, output) as supervisor:
            await database.start_servers(supervisor, places)
            no_ssh = sshd.find_obstacle(places, no_lab)
            no_failover = failover.find_obstacle(places, no_lab)
            await _prepare_keys(places, no_ssh)
            await run_concurrently(_migrate_schema(supervisor, places), gateways.start_gateways(supervisor, places, no_lab, no_ssh))
            # Programs take seconds to load their code, and the demo network is created in one transaction.
            await run_concurrently(
                _start_failover(supervisor, places, port, no_ssh, no_failover), _start_programs(supervisor, places, port, no_ssh)
            )
            _start_others(supervisor, places, events, no_lab, no_ssh)
            fails_over = not no_failover and failover.has_failover_files(places)
            output.say(f"\nNetzwart is up after {time.monotonic() - started:.1f} s.\n" + render_welcome(places, port, no_lab, fails_over))
            if fails_over:
                await _lead_to_carriers(supervisor, places)
            await asyncio.get_running_loop().create_future()  # until a signal or an error ends it


def build_addresses(port: int, events: int) -> dict[str, str]:
    """Return the addresses of pages and of live events. Variables from the environment win: behind a proxy both have one address."""
    return {"NETZWART_URL": f"http://127.0.0.1:{port}", "NETZWART_EVENTS_URL": f"http://127.0.0.1:{events}/events/"}


async def _prepare_keys(places: StatePaths, no_ssh: str) -> None:
    places.gateway_sockets.mkdir(parents=True, exist_ok=True)
    if not no_ssh:
        await asyncio.to_thread(sshd.prepare, places)
    elif not places.demo.exists():
        shutil.rmtree(places.sshd, ignore_errors=True)  # the mark of a demo network that no longer exists


async def _migrate_schema(supervisor: Supervisor, places: StatePaths) -> None:
    with supervisor.output.show_step("Database schema"):
        if not await asyncio.to_thread(database.has_current_schema, postgres.build_url(places), places.postgres):
            await supervisor.run(commands.build_migrate())


async def _seed_demo_network(supervisor: Supervisor, places: StatePaths, port: int, no_ssh: str, no_failover: str) -> None:
    if not places.demo.exists():
        with supervisor.output.show_step("Demo network"):
            seed = commands.build_seed(port, None if no_ssh else places.sshd, None if no_failover else places.failover)
            await supervisor.run(seed)


async def _start_failover(supervisor: Supervisor, places: StatePaths, port: int, no_ssh: str, no_failover: str) -> None:
    """Start failover with the files that the seed writes."""
    await _seed_demo_network(supervisor, places, port, no_ssh, no_failover)
    if no_failover or not failover.has_failover_files(places):
        supervisor.output.say(f"! The gateways do not stand in for each other: {no_failover or failover.MADE_WITHOUT}.")
        return
    for name in commands.GATEWAYS:
        supervisor.start(failover.build_program(places, name))


async def _start_programs(supervisor: Supervisor, places: StatePaths, port: int, no_ssh: str) -> None:
    places.beat_schedule.parent.mkdir(parents=True, exist_ok=True)
    with supervisor.output.show_step("Web server, worker, ticker"):
        for program in (
            commands.build_web(port),
            _place_worker(commands.build_changes_worker(), places, no_ssh),
            commands.build_ticker(places),
        ):
            supervisor.start(program)
        await supervisor.wait_until(partial(_is_answering_http, port), "The web server's answer")


def _start_others(supervisor: Supervisor, places: StatePaths, events: int, no_lab: str, no_ssh: str) -> None:
    """Start the programs that the portal does not wait for at its start."""
    collector = _place_worker(commands.build_collector(), places, no_ssh)
    for program in (
        commands.build_events(events),
        collector,
        commands.build_mailer(),
        commands.build_feed_worker(),
        *(() if no_lab else (commands.build_notice_server(places),)),
    ):
        supervisor.start(program)


async def _lead_to_carriers(supervisor: Supervisor, places: StatePaths) -> None:
    """Lead everybody to the virtual addresses once they are held. Until then, static routes lead to the preferred gateways."""
    await supervisor.run(failover.build_await_carriers(places))
    await asyncio.to_thread(failover.route_lab_to_virtual_addresses, places)


def _place_worker(worker: Program, places: StatePaths, no_ssh: str) -> Program:
    return worker if no_ssh else commands.wrap_program_in_lab(places, worker)


def _is_answering_http(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


PINGED = "203.0.113.10"  # the lab's internet
ONE_FACTOR = (
    "This is a demo: a password is enough to sign in. A real portal requires a second factor of all staff,",
    "and so does this one with NETZWART_REQUIRE_SECOND_FACTOR=1.",
)


def render_welcome(places: StatePaths, port: int, no_lab: str, fails_over: bool) -> str:
    """Return the address, the logins, and things to try."""
    address = f"http://127.0.0.1:{port}/"
    demo = Demo.read(places.demo)
    in_lab = "(not on this machine: the lab does not run)" if no_lab else " ".join(commands.build_lab_command(places, "status"))
    switch = (
        "  4. Let the gateways stand in for each other: while a member pings the internet,",
        f"     {' '.join(commands.build_node_command(places, failover.MEMBER, ('ping', PINGED)))}",
        "     open Gateways, “Failover” of the group, and press “Switch over…”.",
    )
    lines = [
        f"  {address}",
        "",
        *(f"  {row}" for row in demo.render_table()),
        *([] if os.environ.get("NETZWART_REQUIRE_SECOND_FACTOR") == "1" else ["", *ONE_FACTOR]),
        "",
        f"{'Four' if fails_over else 'Three'} things to try:",
        "  1. Sign in as the administrator, open a member and add a port forward:",
        "     both gateways confirm it within a second, and the page says so.",
        "  2. Look into the network that the gateways serve:",
        f"     {in_lab}",
        "  3. Ask the API:",
        f"     curl -H 'Authorization: Bearer {demo.token}' {address}api/members/members/",
        *(switch if fails_over else ()),
        "",
        "Ctrl-C stops everything.",
    ]
    return "\n".join(lines) + "\n"
