"""Commands of `python -m lab`: each takes the parsed options and returns an exit status."""

import os
import sys
from argparse import Namespace

from lab.connect import Attempt, report
from lab.enter import enter, execute
from lab.lab import Lab
from lab.obstacles import list_obstacles
from lab.process import ProcessRef
from lab.register import LabRegisterEntry
from lab.topology import parse_topology


class NotRunningError(Exception):
    """The lab is not running; the message tells how to start it, or why it cannot be started here."""


def bring_up(options: Namespace) -> int:
    register = _build_register(options)
    with register.lock():
        if register.find():
            print(f"The lab {options.name} is already up.")
            return 0
        text = options.topology.read_text()
        lab = Lab.start(parse_topology(text), detached=True)
        register.write(lab, text)
    print(f"The lab {options.name} is up: {len(lab.topology.nodes)} nodes, held by process {lab.holder.pid}.")
    return 0


def take_down(options: Namespace) -> int:
    register = _build_register(options)
    with register.lock():
        lab = register.find()
        if lab:
            lab.stop()
        register.clear()
    print(f"The lab {options.name} {'is down' if lab else 'was not up'}.")
    return 0


def show_status(options: Namespace) -> int:
    """Print nodes, addresses and health; return 0 if every host that should answer does, 1 if one does not, 3 if the lab is down."""
    lab = _build_register(options).find()
    if lab is None:
        print(f"The lab {options.name} is down.")
        return 3
    silent = _list_silent_hosts(lab)
    print(f"The lab {options.name} is up, held by process {lab.holder.pid}.")
    for node in lab.topology.nodes:
        addresses = " ".join(str(address) for interface in node.interfaces for address in interface.addresses)
        health = "" if not node.answers else f"does not answer: {silent[node.name]}" if node.name in silent else "answers"
        print(f"  {node.name:10} {node.role:11} {health or '-':8} {addresses}".rstrip())
    for shortfall in lab.shortfalls:
        print(f"  Byte counts may be inexact: {shortfall}")
    return 1 if silent else 0


def run(options: Namespace) -> int:
    """Run the command in the node; this process ends with the command's exit status."""
    holder = _get_holder(options)
    enter(holder, lambda: execute(options.node, options.command))


def connect(options: Namespace) -> int:
    holder = _get_holder(options)
    attempt = Attempt(options.protocol, options.host, options.port, options.timeout, options.source, options.source_port)
    enter(holder, lambda: report(options.node, attempt))


def check(options: Namespace) -> int:
    del options
    found = list_obstacles()
    for obstacle in found:
        print(f"No lab can run here: {obstacle}", file=sys.stderr)
    if not found:
        print(f"Labs can run here, {'as root' if os.geteuid() == 0 else 'without root'}.")
    return 1 if found else 0


def _build_register(options: Namespace) -> LabRegisterEntry:
    return LabRegisterEntry(options.state, options.name)


def get_running_lab(options: Namespace) -> Lab:
    """Return the lab of this name. Raise `NotRunningError`."""
    lab = _build_register(options).find()
    if lab is None:
        found = list_obstacles()
        way = f"no lab can run here: {'; '.join(found)}" if found else f"start it with: python -m lab --name {options.name} up"
        raise NotRunningError(f"the lab {options.name} is not up; {way}")
    return lab


def check_node(lab: Lab, name: str) -> None:
    """Raise `NotRunningError`, with the names that are known, if the lab has no such node."""
    known = [node.name for node in lab.topology.nodes]
    if name not in known:
        raise NotRunningError(f"unknown node {name}; known: {', '.join(known)}")


def _get_holder(options: Namespace) -> ProcessRef:
    lab = get_running_lab(options)
    check_node(lab, options.node)
    return lab.holder


def _list_silent_hosts(lab: Lab) -> dict[str, str]:
    """Return the hosts that do not answer, each with the reason.

    Each host connects to itself over both IP versions, all at once, so that no ruleset is in the way.
    """
    hosts = [node for node in lab.topology.nodes if node.answers]
    attempts = [(node.name, lab.start_attempt(node.name, Attempt("tcp", host, 80))) for node in hosts for host in (node.ipv4, node.ipv6)]
    return {name: reason for name, process in attempts if (reason := process.communicate(timeout=30)[1].strip())}
