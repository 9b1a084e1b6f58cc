"""Command line of the lab."""

import sys
from argparse import REMAINDER, ArgumentParser
from pathlib import Path

from lab import commands, race
from lab.launch import LabError
from lab.measure.runs import MeasuringError
from lab.program import ROOT
from lab.tables import TopologyError
from lab.topology import DEMO

STATE = ROOT / "var" / "lab"


def build_parser() -> ArgumentParser:
    root = ArgumentParser("python -m lab", description="A whole network in Linux network namespaces: members, two gateways, an internet.")
    root.add_argument("--name", help="name of the lab; several may run (default: the only registered one, else demo)")
    root.add_argument(
        "--state", type=Path, default=STATE, metavar="DIR", help="directory where running labs are registered (default: var/lab)"
    )
    each = root.add_subparsers(required=True, metavar="COMMAND")

    up = each.add_parser("up", help="build the network, unless it is up")
    up.add_argument("--topology", type=Path, default=DEMO, metavar="FILE", help="the topology to build (default: lab/topology.toml)")
    up.set_defaults(act=commands.bring_up)
    each.add_parser("down", help="stop the lab with everything in it").set_defaults(act=commands.take_down)
    each.add_parser("status", help="show nodes, addresses and whether the hosts answer").set_defaults(act=commands.show_status)
    each.add_parser("check", help="check if labs can run on this machine").set_defaults(act=commands.check)

    run = each.add_parser("exec", help="run a command in a node", usage="%(prog)s NODE -- COMMAND …")
    run.add_argument("node", metavar="NODE")
    run.add_argument("command", nargs=REMAINDER, metavar="COMMAND")
    run.set_defaults(act=commands.run)

    connect = each.add_parser("connect", help="connect from a node, and print who answered and what it saw")
    connect.add_argument("node", metavar="NODE")
    connect.add_argument("protocol", choices=("tcp", "udp"))
    connect.add_argument("host", metavar="HOST", help="the address to connect to")
    connect.add_argument("port", type=int, metavar="PORT")
    connect.add_argument("--timeout", type=float, default=2.0, metavar="SECONDS", help="(default: %(default)s)")
    connect.add_argument("--source", default="", metavar="ADDRESS", help="connect from this address of the node")
    connect.add_argument("--source-port", type=int, default=0, metavar="PORT")
    connect.set_defaults(act=commands.connect)

    race.add_command(each)
    return root


def get_default_lab_name(state: Path) -> str:
    """Return the name of the only lab noted in the directory; "demo" if there is none or more than one."""
    noted = [entry.stem for entry in state.glob("*.json")]
    return noted[0] if len(noted) == 1 else "demo"


def main() -> int:
    options = build_parser().parse_args()
    options.name = options.name or get_default_lab_name(options.state)
    if getattr(options, "command", None) is not None:
        options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
        if not options.command:
            build_parser().error("exec: the command is missing; write: exec NODE -- COMMAND")
    try:
        status: int = options.act(options)
    except (LabError, TopologyError, commands.NotRunningError, MeasuringError, OSError, ValueError) as error:
        print(f"python -m lab: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
