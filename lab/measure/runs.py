"""Runs the measuring programs in the nodes of a lab, and returns their reports as values."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.lab import Lab
from lab.measure.connects import ConnectReport, parse_connect_report
from lab.measure.many_states import ManyStatesReport
from lab.measure.output import READY
from lab.measure.silence import SilenceReport
from lab.measure.sniff import SniffReport
from lab.measure.syn_flood import SynFloodReport
from lab.measure.tcp import TcpReceiverReport, Transfer
from lab.measure.udp import UdpReceiverReport, UdpSenderReport
from lab.program import build_module_command

TIMEOUT = 60.0  # seconds to wait for a report after the work is done


class MeasuringError(Exception):
    """A program ended without a report; the message is its output."""


def run_udp_stream(
    lab: Lab,
    sender: str,
    receiver: str,
    host: str,
    port: int,
    *,
    arrives_at: int = 0,
    rate: float = 1000,
    seconds: float = 1,
    size: int = 100,
    idle: float = 1,
) -> tuple[UdpSenderReport, UdpReceiverReport]:
    """Send a UDP stream to `host` and `port`. The receiver listens on `arrives_at`, if a forward leads to another port.

    idle: seconds of silence after which the receiver gives up.
    """
    options = ("--rate", str(rate), "--seconds", str(seconds), "--size", str(size))
    with _start_program(lab, receiver, "lab.measure.udp", "receive", str(arrives_at or port), "--idle", str(idle)) as waiting:
        sent = _run(lab, sender, seconds + TIMEOUT, "lab.measure.udp", "send", host, str(port), *options)
        return UdpSenderReport(**sent), UdpReceiverReport(**_read_last_report(waiting))


def run_tcp_transfer(
    lab: Lab, sender: str, receiver: str, host: str, port: int, *, arrives_at: int = 0, octets: int = 1_000_000, rate: float = 0
) -> Transfer:
    """Send octets over TCP to `host` and `port`. The receiver listens on `arrives_at`, if a forward leads to another port."""
    options = ("--octets", str(octets), "--rate", str(rate))
    seconds = octets / rate if rate else 0
    with _start_program(lab, receiver, "lab.measure.tcp", "receive", str(arrives_at or port)):
        sent = _run(lab, sender, seconds + TIMEOUT, "lab.measure.tcp", "send", host, str(port), *options)
        return Transfer(**sent | {"arrived": TcpReceiverReport(**sent["arrived"])})


class Sniffer:
    """A sniffer that runs in a node."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def stop(self) -> SniffReport:
        """Stop and return the report, which counts every packet that has arrived until now."""
        self._process.terminate()
        told = _read_last_report(self._process)
        return SniffReport(**told | {"examples": tuple(told["examples"])})


@contextmanager
def start_sniffer(lab: Lab, node: str, device: str, *prefixes: str) -> Iterator[Sniffer]:
    """Watch for packets that arrive with a source in these prefixes; without prefixes, in the private ones."""
    options = [word for prefix in prefixes for word in ("--source", prefix)]
    with _start_program(lab, node, "lab.measure.sniff", device, *options) as process:
        yield Sniffer(process)


class BusyFlows:
    """Flows of a node that are kept busy, and measured since the last mark."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def mark(self) -> None:
        """Measure from now on."""
        self._say("mark")

    def report(self) -> SilenceReport:
        """Return the longest silence of each flow since the mark, and the flows that were lost."""
        self._say("report")
        return SilenceReport(**_parse_output(self._process.stdout.readline() if self._process.stdout else ""))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(TIMEOUT)

    def _say(self, command: str) -> None:
        if self._process.stdin:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()


@contextmanager
def keep_flows_busy(lab: Lab, node: str, *flows: str) -> Iterator[BusyFlows]:
    """Keep flows from the node to echo servers busy, each given as protocol/host/port."""
    with _start_program(lab, node, "lab.measure.silence", *flows, stdin=subprocess.PIPE) as process:
        yield BusyFlows(process)


def open_many_states(lab: Lab, node: str, *hosts: str, port: int, number: int) -> ManyStatesReport:
    """Open this many UDP flows from the node to each host, which connection tracking keeps for some minutes."""
    return ManyStatesReport(**_run(lab, node, TIMEOUT + number / 100, "lab.measure.many_states", str(port), str(number), *hosts))


class SynFlood:
    """A flood that runs in a node."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def stop(self) -> int:
        """Stop, and return how many SYNs were sent."""
        self._process.terminate()
        return SynFloodReport(**_read_last_report(self._process)).sent


@contextmanager
def keep_sending_syns(lab: Lab, node: str, source: str, *hosts: str, port: int) -> Iterator[SynFlood]:
    """Send SYNs from all ports of the node's address to the hosts, over and over."""
    with _start_program(lab, node, "lab.measure.syn_flood", source, str(port), *hosts) as process:
        yield SynFlood(process)


class ConnectingNode:
    """A node that opens TCP connections from `begin` on."""

    def __init__(self, node: str, process: subprocess.Popen[str]) -> None:
        self._node = node
        self._process = process

    def begin(self) -> None:
        if self._process.stdin:
            self._process.stdin.write("begin\n")
            self._process.stdin.flush()

    def stop(self) -> None:
        """Open no more; the last report comes when those that are opening have ended."""
        if self._process.stdin:
            self._process.stdin.close()

    def read_report(self) -> ConnectReport | None:
        """Wait for the report of the next interval. None after the last one. Raise `MeasuringError` if the program failed."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            self._check_end()
            return None
        try:
            return parse_connect_report(line)
        except ValueError as error:
            rest = self._process.stdout.read() if self._process.stdout else ""
            raise MeasuringError(f"{self._node}: {line}{rest}") from error

    def _check_end(self) -> None:
        if status := self._process.wait(TIMEOUT):
            raise MeasuringError(f"{self._node}: the program that opens connections ended with status {status}, without a last report")


@contextmanager
def start_connecting(
    lab: Lab, node: str, host: str, port: int, *, seconds: float, every: float, parallel: int, rate: float, timeout: float
) -> Iterator[ConnectingNode]:
    """Have a program ready in the node that opens connections (`lab.measure.connects`). Ctrl-C does not reach it.

    seconds: how long it opens them; every: between two reports; parallel: attempts at once; rate: connections per second, 0 for no
    limit; timeout: seconds after which an attempt has failed.
    """
    numbers = {"--seconds": seconds, "--every": every, "--parallel": parallel, "--rate": rate, "--timeout": timeout}
    options = [word for option, number in numbers.items() for word in (option, str(number))]
    arguments = ("lab.measure.connects", host, str(port), *options)
    with _start_program(lab, node, *arguments, stdin=subprocess.PIPE, own_session=True) as process:
        yield ConnectingNode(node, process)


@contextmanager
def _start_program(
    lab: Lab, node: str, program: str, *arguments: str, stdin: int | None = None, own_session: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """Start the program and yield it when it is ready; kill it at the end if it still runs."""
    command = build_module_command(program, *arguments)
    with lab.popen(node, command, stdin=stdin, stderr=subprocess.STDOUT, own_session=own_session) as process:
        try:
            _await_ready(process)
            yield process
        finally:
            process.kill()


def _await_ready(process: subprocess.Popen[str]) -> None:
    first = process.stdout.readline() if process.stdout else ""
    if first != READY:
        raise MeasuringError(first + (process.stdout.read() if process.stdout else ""))


def _run(lab: Lab, node: str, timeout: float, program: str, *arguments: str) -> dict[str, Any]:
    done = lab.run(node, build_module_command(program, *arguments), timeout=timeout, check=False)
    return _parse_output(done.stdout or done.stderr)


def _read_last_report(process: subprocess.Popen[str]) -> dict[str, Any]:
    return _parse_output(process.stdout.read() if process.stdout else "")


def _parse_output(output: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(output)
    except json.JSONDecodeError as error:
        raise MeasuringError(output) from error
    return told
