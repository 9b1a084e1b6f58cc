"""The process that holds a lab: the first one of its PID, mount and network namespaces.

Input, on standard input: one line, the plan as JSON. Output, on standard output: one line with its process id as seen from
outside, and the shortfalls. It then waits until standard input ends, or for ever if it is detached. However it ends, the kernel
then removes all namespaces, interfaces and processes of the lab.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lab.card import is_running, switch_offloads_off
from lab.namespace import enter_namespace
from lab.server import STEERING, Listeners

if TYPE_CHECKING:
    from lab.plan import LabPlan, NodePlan  # the import would load half the standard library for two names

WAKE_CONNTRACK = "table inet wake {\n chain wake {\n ct state new\n}\n}\ndelete table inet wake\n"
PATIENCE = 60.0  # seconds for the kernel to notice that a cable is plugged in


def main() -> None:
    """Build the lab and hold it. With the option --detached, it does not end with its standard input."""
    try:
        _build()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
    _hold(detached="--detached" in sys.argv)


def _build() -> None:
    outside = int(Path("/proc/self").readlink().name)  # /proc is still the outer one and shows the outer process id
    run(["mount", "-t", "proc", "proc", "/proc"])
    run(["mount", "-t", "tmpfs", "tmpfs", "/run"])
    plan: LabPlan = json.loads(sys.stdin.readline())
    run(["ip", "-batch", "-"], plan["links"])
    _wake_conntrack()
    shortfalls = configure(plan)
    for node in plan["nodes"]:
        if node["answers"]:
            _serve(node["name"])
    print(json.dumps({"pid": outside, "shortfalls": shortfalls}), flush=True)


def run(command: list[str], text: str = "") -> None:
    """Run a program to its end, with `text` as its standard input. Raise `subprocess.CalledProcessError`."""
    subprocess.run(command, input=text, text=True, check=True)


def configure(plan: "LabPlan") -> list[str]:
    """Configure the nodes, whose namespaces must exist. Return when all cards are up, with the shortfalls of this kernel."""
    shortfalls = [line for node in plan["nodes"] for line in _prepare(node)]
    _configure(plan)
    for node in plan["nodes"]:
        _await_cards(node)
    return shortfalls


def _wake_conntrack() -> None:
    """Make the kernel load connection tracking: where it is a module, its settings appear when the first rule needs it."""
    if not Path("/proc/sys/net/netfilter/nf_conntrack_tcp_loose").exists():
        run(["nft", "-f", "-"], WAKE_CONNTRACK)


def _prepare(node: "NodePlan") -> list[str]:
    with enter_namespace(node["name"]):
        for name, value in node["sysctls"].items():
            Path("/proc/sys", name).write_text(value)
        return [f"{node['name']} {device}: {name} stays on" for device in node["devices"] for name in switch_offloads_off(device)]


def _configure(plan: "LabPlan") -> None:
    """Configure all nodes at once: one `ip` for each, and one `nft` more where the node answers."""
    running = [_start(node["name"], ["ip", "-batch", "-"], node["batch"]) for node in plan["nodes"]]
    running += [_start(node["name"], ["nft", "-f", "-"], STEERING) for node in plan["nodes"] if node["answers"]]
    for process in running:
        if process.wait() != 0:
            raise SystemExit(f"{process.args!r} failed")


def _await_cards(node: "NodePlan") -> None:
    deadline = time.monotonic() + PATIENCE
    with enter_namespace(node["name"]):
        while not all(is_running(device) for device in node["devices"]):
            if time.monotonic() > deadline:
                raise SystemExit(f"the cards of {node['name']} did not come up")
            time.sleep(0.001)


def _start(node: str, command: list[str], text: str) -> subprocess.Popen[str]:
    with enter_namespace(node):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    if process.stdin is not None:
        process.stdin.write(text)
        process.stdin.close()
    return process


def _serve(node: str) -> None:
    """Start the node's server. The sockets listen before the process is forked: a host answers as soon as the lab is up."""
    with enter_namespace(node):
        listeners = Listeners()
        if os.fork() == 0:
            os.dup2(os.open(os.devnull, os.O_RDWR), sys.stdin.fileno())
            os.dup2(sys.stdin.fileno(), sys.stdout.fileno())
            listeners.serve(node)


def _hold(*, detached: bool) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans of the lab become our children, and must not stay as zombies
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    if not detached:
        sys.stdin.read()
        os._exit(0)
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
