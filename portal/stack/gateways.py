"""Starts the lab and its two gateways: for `serve`, and alone for a portal that runs elsewhere on this machine."""

import asyncio
import os
import socket
import subprocess
from functools import partial

from lab.sshd import GROUP
from portal.stack import commands, sshd
from portal.stack.directory_lock import lock_directory
from portal.stack.errors import StackError
from portal.stack.output import Output
from portal.stack.processes import Supervisor, supervise
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

WITHOUT_SSH = "the portal reaches them by their sockets"


async def serve_gateways(places: StatePaths, group: str, output: Output) -> None:
    """Run the lab until Ctrl-C or SIGTERM. Raises StackError if it cannot run here, or if a part of it died."""
    no_lab = explain_missing_lab(places)
    if no_lab:
        raise StackError(f"No lab can run here: {no_lab}")
    with lock_directory(places):
        async with supervise({**os.environ, "PYTHONUNBUFFERED": "1"}, output) as supervisor:
            places.gateway_sockets.mkdir(parents=True, exist_ok=True)
            await start_gateways(supervisor, places, "", WITHOUT_SSH, group)
            output.say(f"\nThe lab is up. {' '.join(commands.build_lab_command(places, 'status'))} shows it.")
            await asyncio.get_running_loop().create_future()  # until a signal or an error ends it


def explain_missing_lab(places: StatePaths) -> str:
    """Return why this machine cannot run the lab's network namespaces; "" if it can."""
    done = subprocess.run(
        commands.build_lab_command(places, "check"), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"'lab check' ended with status {done.returncode}")


async def start_gateways(supervisor: Supervisor, places: StatePaths, no_lab: str, no_ssh: str, group: str = "") -> None:
    """Start the lab and its gateways, and return when all answer.

    no_lab, no_ssh: why there is none, or "". group: who may connect to the agents' sockets besides their own account; with ssh, sshd's.
    """
    if no_lab:
        supervisor.output.say(f"! The gateways keep their rules in memory, and no packet is touched. {no_lab}")
    else:
        with supervisor.output.show_step("Lab network"):
            await supervisor.run(commands.build_lab(places, "down"))  # one that a crash left may have another topology
            supervisor.start(commands.build_lab_stopper(places))
            await supervisor.run(commands.build_lab(places, "up"))
            supervisor.start(commands.build_responder(places))
    with supervisor.output.show_step(f"Gateways {', '.join(commands.GATEWAYS)}"):
        for name in commands.GATEWAYS:
            commands.get_gateway_socket(places, name).unlink(missing_ok=True)
            commands.get_prober_socket(places, name).unlink(missing_ok=True)
            if not no_lab:
                supervisor.start(commands.build_prober(places, name))
            supervisor.start(_build_gateway(places, name, no_lab, group if no_ssh else GROUP))
            if not no_ssh:
                supervisor.start(sshd.build_program(places, name))
        for name in commands.GATEWAYS:
            await supervisor.wait_until(
                partial(_is_listening, str(commands.get_gateway_socket(places, name))), f"The answer of gateway {name}"
            )
            if not no_ssh:
                await supervisor.wait_until(partial(sshd.is_answering, places, name), f"The answer of {name}'s sshd")


def _build_gateway(places: StatePaths, name: str, no_lab: str, group: str) -> Program:
    if no_lab:
        return commands.build_memory_gateway(places, name)
    return commands.build_gateway(places, name, *(("--group", group) if group else ()))


def _is_listening(path: str) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(1)
            connection.connect(path)
    except OSError:
        return False
    return True
