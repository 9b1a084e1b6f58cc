"""Follows one port forward from the API to a packet, in a whole portal that is started for this and stopped afterwards.

Run by script/smoke. Exits with status 0 or 1. Each step has a time limit of 600 seconds.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from portal import programs
from portal.stack import commands, ports
from portal.stack.api_client import ApiClient, Json
from portal.stack.demo import Demo
from portal.stack.errors import StackError
from portal.stack.output import Output
from portal.stack.program import Program
from portal.stack.state_paths import StatePaths

TIME_LIMIT = 600.0  # seconds for each step that waits
STOPPING = 11.0
FIRST_PORT = 8100
PUBLIC_ADDRESS, PUBLIC_PORT, PRIVATE_PORT = "198.51.100.7", 8443, 443
UP = "Netzwart is up"


class WaitLimit:
    """Time limit for each thing that is waited for. On a slow machine everything works, but later."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def wait_until[T](self, look: Callable[[], T | None], what: str) -> T:
        """Poll until `look` returns something other than None, and return that. Raises StackError when the time is over."""
        deadline = time.monotonic() + self._seconds
        while (found := look()) is None:
            if time.monotonic() > deadline:
                raise StackError(f"{what} did not come in time.")
            time.sleep(0.05)
        return found


class SmokePortal:
    """A started `serve`, whose output goes to a file."""

    def __init__(self, places: StatePaths, port: int) -> None:
        self.places = places
        self.address = f"http://127.0.0.1:{port}"
        self.log = places.var / "smoke.log"
        command = (programs.PYTHON, "-m", "portal.stack", "serve", "--var", str(places.var), "--port", str(port))
        with self.log.open("wb") as log:
            self._popen = subprocess.Popen(
                Program("serve", command).build_arguments(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=programs.ROOT,
            )

    def is_up(self) -> bool | None:
        if (status := self._popen.poll()) is not None:
            raise StackError(f"The portal ended with status {status}. Its last words:\n{self.read_last_words()}")
        return True if UP in self.log.read_text(errors="replace") else None

    def read_last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def stop(self) -> None:
        self._popen.terminate()
        try:
            self._popen.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()


def connect(places: StatePaths) -> Json | None:
    """Open a TCP connection from the demo internet to the forwarded port. Return the host that answers, None if there is no answer."""
    command = commands.build_lab_command(places, "connect", "internet", "tcp", PUBLIC_ADDRESS, str(PUBLIC_PORT), "--timeout", "1")
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=programs.ROOT, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.returncode == 0 else None


def find_holding_in_lab(api: ApiClient) -> tuple[Json, str]:
    """Return a holding of a demo member with a host in the lab, and the address of that host."""
    topology = tomllib.loads((programs.ROOT / "lab" / "topology.toml").read_text())
    members = [node for node in topology["nodes"].values() if node["role"] == "member"]
    hosts = [address for node in members for address in node["interfaces"]["eth0"]["addresses"] if ":" not in address]
    for address in hosts:
        for holding in api.list_rows("/api/network/addresses/", address=address):
            return holding, address
    raise StackError(f"No demo member holds an address of the lab's hosts ({', '.join(hosts)}).")


def find_forward_activation(api: ApiClient, forward: int) -> dict[str, Any] | None:
    """Return since when each gateway has the forward; None while a gateway lacks it."""
    since = {at["gateway"]: at["since"] for at in api.get(f"/api/nat/forwards/{forward}/")["active"]}
    return since if set(since) >= set(commands.GATEWAYS) and all(since.values()) else None


def find_confirmed_rollout(api: ApiClient, after: int) -> Json | None:
    """Return the newest rollout if it is newer than `after` and confirmed, otherwise None. Raises StackError if it failed."""
    newest = find_newest_rollout(api)
    if newest is None or newest["id"] <= after:
        return None
    if newest["state"] == "failed":
        raise StackError(f"Rollout {newest['id']} failed: {newest}")
    return newest if newest["state"] == "confirmed" else None


def find_newest_rollout(api: ApiClient) -> Json | None:
    return next(iter(api.list_rows("/api/deployments/rollouts/", ordering="-id", limit=1)), None)


def follow(portal: SmokePortal, output: Output, clock: WaitLimit) -> None:
    """Run the steps. Raises StackError, which says which step failed and why."""
    with output.show_step("The whole portal starts"):
        clock.wait_until(portal.is_up, "The portal")
    in_lab = "in memory" not in portal.log.read_text(errors="replace")
    with output.show_step("The administrator's token opens the API"):
        api = ApiClient(portal.address, Demo.read(portal.places.demo).token)
        api.get("/api/members/members/", limit=1)
    with output.show_step("A demo member holds an address in the lab"):
        holding, address = find_holding_in_lab(api)
    if in_lab:
        with output.show_step("The port is closed to the internet"):
            demand(connect(portal.places) is None, "a host answers before the forward exists")
    with output.show_step("A port forward is accepted"):
        forward = api.post(
            "/api/nat/forwards/",
            holding=holding["id"],
            public_address=PUBLIC_ADDRESS,
            protocol="tcp",
            public_port=PUBLIC_PORT,
            private_port=PRIVATE_PORT,
            purpose="Smoke test",
        )["id"]
    with output.show_step("Both gateways confirm it"):
        clock.wait_until(lambda: find_forward_activation(api, forward), "The confirmation of both gateways")
    if in_lab:
        with output.show_step("A connection from the internet arrives at the member's host"):
            answer = clock.wait_until(lambda: connect(portal.places), "An answer")
            demand((answer["address"], answer["port"]) == (address, PRIVATE_PORT), f"another host answered: {answer}")
    with output.show_step("The port forward is removed, and the gateways confirm that"):
        before = (find_newest_rollout(api) or {"id": 0})["id"]
        api.delete(f"/api/nat/forwards/{forward}/")
        clock.wait_until(lambda: find_confirmed_rollout(api, before), "The confirmed rollout")
    if in_lab:
        with output.show_step("The port is closed to the internet again"):
            clock.wait_until(lambda: True if connect(portal.places) is None else None, "The refusal")
    else:
        output.say("! No packet was sent: the lab does not run on this machine")


def demand(condition: bool, otherwise: str) -> None:
    if not condition:
        raise StackError(otherwise)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="store_true", help="keep the scratch directory")
    keep = parser.parse_args().keep
    output, clock = Output(), WaitLimit(TIME_LIMIT - STOPPING)
    (programs.ROOT / "var").mkdir(exist_ok=True)
    places = StatePaths.from_directory(Path(tempfile.mkdtemp(prefix="smoke-", dir=programs.ROOT / "var")))
    failure = ""
    portal = SmokePortal(places, ports.find_free_port(FIRST_PORT))
    try:
        follow(portal, output, clock)
    except (StackError, KeyError, TypeError, ValueError) as wrong:
        failure = str(wrong) if isinstance(wrong, StackError) else f"The API answered in an unknown form: {wrong!r}"
    finally:
        portal.stop()
        if not (keep or failure or sys.exc_info()[0]):
            clean(places)
    if failure:
        output.say(f"\n{failure}\nThe log is kept: {os.path.relpath(portal.log)}")
    return 1 if failure else 0


def clean(places: StatePaths) -> None:
    shutil.rmtree(places.var, ignore_errors=True)
    with suppress(OSError):
        shutil.rmtree(places.sockets)


if __name__ == "__main__":
    sys.exit(main())
