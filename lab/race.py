"""`python -m lab race`: do connections of several members behind one public address race each other on a gateway?

If two of them are given the same public port at the same moment, the gateway loses the first packet of one and counts `insert_failed`.
Its sender sends it again after a second, so a connection that was to take a millisecond takes a second or more.
"""

import signal
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from ipaddress import ip_address
from types import FrameType
from typing import TYPE_CHECKING

from lab.commands import NotRunningError, check_node, get_running_lab
from lab.lab import Lab
from lab.measure.insert_failed import read_insert_failed
from lab.measure.runs import ConnectingNode, start_connecting
from lab.race_table import COLUMNS, HEADING, ConnectTotals, combine, render_errors, render_line

if TYPE_CHECKING:
    from argparse import _SubParsersAction

WIDEST = max(map(len, COLUMNS))
DESCRIPTION = f"""Open TCP connections from several nodes at once, and show how long each took to be open.
Do they race each other on a gateway? Then some take a second and more, and insert_failed rises.

Columns:
{"\n".join(f"  {column:{WIDEST}}  {meaning}" for column, meaning in COLUMNS.items())}

The last line is the whole run's. Ctrl-C ends the run early: the attempts that have begun are waited for, or
given up at a second Ctrl-C, and the last line follows. Exit status: 0; 1 if an attempt failed or insert_failed
rose; 2 if the run could not be made."""
DAY = 86_400  # seconds


def add_command(commands: "_SubParsersAction[ArgumentParser]") -> None:
    what = "open connections from several nodes at once, and show if they race each other on a gateway"
    race = commands.add_parser("race", help=what, description=DESCRIPTION, formatter_class=RawDescriptionHelpFormatter)
    race.add_argument("nodes", nargs="+", metavar="NODE", help="where connections come from: members that share a public address")
    race.add_argument("host", type=_parse_host, metavar="HOST", help="the address to connect to")
    race.add_argument("port", type=_parse_whole(1, 65_535), metavar="PORT")
    race.add_argument("--gateway", action="append", metavar="NODE", help="where insert_failed is read; may be repeated (default: all)")
    race.add_argument("--seconds", type=_parse_seconds, default=30, help="how long connections are opened (default: %(default)s)")
    race.add_argument("--every", type=_parse_seconds, default=5, metavar="SECONDS", help="time between two lines (default: %(default)s)")
    many = _parse_whole(1, 1000)  # of the 1,024 files that a program may usually open
    race.add_argument("--parallel", type=many, default=20, metavar="NUMBER", help="attempts of a node at once (default: %(default)s)")
    rate = "connections a second of a node (default: as fast as it goes)"
    race.add_argument("--rate", type=_parse_whole(1, 1_000_000), default=0, metavar="NUMBER", help=rate)
    late = "after this time an attempt has failed (default: %(default)s)"
    race.add_argument("--timeout", type=_parse_seconds, default=10, metavar="SECONDS", help=late)
    race.set_defaults(act=run_race)


def run_race(options: Namespace) -> int:
    """Run, and print the table. Return 1 if an attempt failed or `insert_failed` rose, 0 otherwise."""
    lab = get_running_lab(options)
    _check_nodes(lab, options.nodes)
    gateways = _choose_gateways(lab, options.gateway)
    before = _read_sum(lab, gateways)
    totals, interrupt = ConnectTotals(), RaceInterrupt()
    with ExitStack() as stack, interrupt.handle():
        with suppress(KeyboardInterrupt):
            racers = [stack.enter_context(_prepare(lab, node, options)) for node in options.nodes]
            interrupt.begin(racers)
            print(HEADING, flush=True)
            for interval in iter_intervals(racers):
                totals += interval
                print(render_line(f"{totals.seconds:.1f}", interval, _read_sum(lab, gateways) - before), flush=True)
        lost = _read_sum(lab, gateways) - before
    print(render_line("in all", totals, lost))
    if totals.errors:
        print(f"Errors: {render_errors(totals)}")
    return 1 if totals.errors or lost else 0


class RaceInterrupt:
    """What Ctrl-C and SIGTERM do: the first one stops the racers, the second one raises `KeyboardInterrupt`."""

    def __init__(self) -> None:
        self._racers: Sequence[ConnectingNode] = ()
        self._came = False

    def begin(self, racers: Sequence[ConnectingNode]) -> None:
        """Let the racers begin; stop them if the signal came before."""
        for racer in racers:
            racer.begin()
        self._racers = racers
        if self._came:
            self._stop()

    @contextmanager
    def handle(self) -> Iterator[None]:
        former = {number: signal.signal(number, self._receive) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _receive(self, _number: int, _frame: FrameType | None) -> None:
        if self._came:
            raise KeyboardInterrupt
        self._came = True
        self._stop()

    def _stop(self) -> None:
        for racer in self._racers:
            racer.stop()


def iter_intervals(racers: Sequence[ConnectingNode]) -> Iterator[ConnectTotals]:
    """Yield the totals of each interval when all racers have reported it, until the last of them has ended."""
    while reports := [report for racer in racers if (report := racer.read_report())]:
        yield combine(reports)


def _prepare(lab: Lab, node: str, options: Namespace) -> AbstractContextManager[ConnectingNode]:
    numbers = {name: getattr(options, name) for name in ("seconds", "every", "parallel", "rate", "timeout")}
    return start_connecting(lab, node, options.host, options.port, **numbers)


def _read_sum(lab: Lab, gateways: Sequence[str]) -> int:
    return sum(read_insert_failed(lab, gateway) for gateway in gateways)


def _check_nodes(lab: Lab, nodes: Sequence[str]) -> None:
    for node in nodes:
        check_node(lab, node)
        if nodes.count(node) > 1:
            raise NotRunningError(f"{node} is named {nodes.count(node)} times; to open more connections from a node, raise --parallel")


def _choose_gateways(lab: Lab, wanted: Sequence[str] | None) -> list[str]:
    """Return the gateways without duplicates; all if none is wanted. Raise `NotRunningError` for a node that is none."""
    known = [node.name for node in lab.topology.list_by_role("gateway")]
    for name in wanted or ():
        if name not in known:
            raise NotRunningError(f"{name} is not a gateway of this lab; its gateways: {', '.join(known)}")
    return [name for name in known if not wanted or name in wanted]


def _parse_host(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not an IP address; write one such as 203.0.113.10") from error


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0.1 <= seconds <= DAY:
        raise ArgumentTypeError(f"{text} is not a time in seconds; write a number from 0.1 to {DAY}")
    return seconds


def _parse_whole(first: int, last: int) -> Callable[[str], int]:
    """Return a function that reads a whole number of this range."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and first <= int(text) <= last):
            raise ArgumentTypeError(f"{text} is not a number from {first} to {last}")
        return int(text)

    return parse
