"""`manage.py group failover` and `manage.py gateway failover-files`: the settings of a group's failover, and the files of a gateway."""

from argparse import ArgumentParser, ArgumentTypeError, BooleanOptionalAction
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from apps.gateways import enrolment
from apps.gateways.failover_files import SIDES, render_failover_files
from apps.gateways.failover_settings import change_failover, get_failover, stop_managing_failover
from apps.lib.fields import AddressInNetwork, InterfaceAddressField
from apps.network.models import Failover, Gateway

NOTHING: Final = "none"
_VALUES: Final = (*SIDES, "virtual_router", "interval", "failback", "cache", "announce")
Say = Callable[[str], Any]


def define_failover_arguments(parser: ArgumentParser) -> None:
    """Define the arguments of `group failover`. Without one beside the name, the settings are shown."""
    parser.add_argument("name", help="the group's name")
    for side, what in zip(SIDES, ("inside", "outside", "towards the servers"), strict=True):
        parser.add_argument(
            f"--{side}",
            type=_parse_interface_address,
            action="append",
            metavar="ADDRESS/LENGTH",
            help=f"virtual address {what}, instead of those so far; may be given several times; “none”: no address",
        )
    parser.add_argument("--virtual-router", type=int, metavar="VRID", help="number of the virtual router, 1 to 255")
    parser.add_argument("--interval", type=int, metavar="N", help="hundredths of a second between two advertisements, 5 to 100")
    text = "seconds until the preferred gateway takes its family back, 5 to 1000; “none”: a person switches back"
    parser.add_argument("--failback", type=_parse_seconds, metavar="SECONDS", help=text)
    text = "where the states of the other gateway are: at once in the kernel, or in memory until the gateway takes over"
    parser.add_argument("--cache", choices=Failover.Cache.values, help=text)
    text = "whether the carrier of a family has routes to its pools, which a routing program there announces"
    parser.add_argument("--announce", action=BooleanOptionalAction, help=text)
    parser.add_argument("--off", action="store_true", help="stop managing it here; what runs on the gateways goes on")


def run_failover(options: dict[str, Any], say: Say) -> None:
    """Show, change or stop the failover of a group. Raises Problem."""
    row = get_failover(enrolment.get_group(options["name"]))
    given = {name: options[name] for name in _VALUES if options[name] is not None}
    if options["off"]:
        stop_managing_failover(group=row.group, version=row.version, by=None)
        say(f"Netzwart does not manage the failover of {row.group}. What runs on its gateways goes on.")
        return
    if given:
        values = {name: getattr(row, name) for name in _VALUES} | {name: _read_nothing(value) for name, value in given.items()}
        row = change_failover(group=row.group, version=row.version, by=None, **values)
        say(f"Failover of {row.group} is changed. Nothing was sent. A gateway's files: manage.py gateway failover-files NAME")
    _show(row, say)


def _show(row: Failover, say: Say) -> None:
    if not row.version:
        say(f"Failover of {row.group} is not managed here. Begin with “manage.py group failover {row.group} --inside ADDRESS/LENGTH”.")
        return
    for side in SIDES:
        say(f"{side}: {', '.join(map(str, getattr(row, side))) or 'no address'}")
    back = f"takes its family back after {row.failback} s" if row.failback else "a person switches back"
    pools = "  routes for a routing program" if row.announce else ""
    say(f"VRID {row.virtual_router}  every {row.interval / 100:.2f} s  {back}  states {row.cache}{pools}")


def write_failover_files(gateway: Gateway, directory: Path | None, say: Say) -> None:
    """Write the files of the gateway into the directory, which is made if it is missing; without one, say them. Raises Problem."""
    files = render_failover_files(gateway)
    if directory is None:
        for name, text in files.items():
            say(f"==> {name} <==\n{text}")
        return
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    say(f"Wrote {', '.join(files)} to {directory}. Copy them to {gateway}, and there: netzwart-failover install DIRECTORY")


def _read_nothing(value: Any) -> Any:
    """Return the value of a field for what was given; “none” empties it."""
    if isinstance(value, list):
        return [each for each in value if each != NOTHING]
    return None if value == NOTHING else value


def _parse_interface_address(text: str) -> AddressInNetwork | str:
    try:
        return text if text == NOTHING else InterfaceAddressField().parse(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not an address with a prefix length: write it like 10.0.0.254/11") from error


def _parse_seconds(text: str) -> int | str:
    if text != NOTHING and not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is neither a number of seconds nor “{NOTHING}”")
    return text if text == NOTHING else int(text)
