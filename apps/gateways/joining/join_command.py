"""`manage.py gateway join`: the same steps as on the page, in one terminal. May be run again; it goes on where it stopped."""

from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from apps.gateways import enrolment
from apps.gateways.joining import services
from apps.gateways.joining.examination import examine_machine
from apps.gateways.joining.install_command import build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import describe_interface, describe_system, list_checks, suggest_for_machine
from apps.gateways.joining.suggestions import SuggestedInterfaces
from apps.lib.errors import Problem
from apps.network.models import Gateway
from firewall.machine import MachineFacts

ROLES = ("lan", "wan", "management", "sync")
Say = Callable[[str], Any]


def define_join_arguments(parser: ArgumentParser) -> None:
    """Define the interfaces, which are suggested if they are not given."""
    for role, text in zip(ROLES, ("inside", "outside", "management", "state sync"), strict=True):
        parser.add_argument(f"--{role}", metavar="IF", help=f"{text} interface (default: as suggested by what the machine reports)")
    parser.add_argument("--sync-address", type=ip_address, metavar="ADDRESS", help="its IPv4 address there (default: as reported)")


def begin_or_go_on(options: dict[str, Any]) -> JoiningMachine:
    """Return the joining machine of this name, at this address. Raises Problem."""
    known = JoiningMachine.objects.filter(name=options["name"]).first()
    if known is None:
        group = enrolment.get_group(options["group"])
        return services.begin_joining(name=options["name"], group=group, address=options["address"], port=options["port"])
    if known.group.name != options["group"]:
        raise Problem(f"{known} is joining {known.group}. Give it up on its page first.", "group")
    services.move_machine(machine=known, address=options["address"], port=options["port"])
    return known


def require_reachable_machine(machine: JoiningMachine, say: Say) -> JoiningMachine:
    """Examine the machine; say what to paste while it has not answered. Raises Problem if it is not reached."""
    found = _examine(machine)
    command = build_install_command(found)
    if command and not found.host_key:
        say(f"Paste this on {found}, as root:\n\n{command.text}\n")
    if not found.seen_key and not found.host_key:
        raise Problem(f"{found} is not reached: {found.problem}. Then run this again.")
    return found


def read_facts(machine: JoiningMachine, say: Say) -> MachineFacts:
    """Return what the agent reports, and say it. Raises Problem if it does not answer."""
    found = _examine(machine)
    say("; ".join(each.word for each in list_checks(found)))
    facts = found.parse_facts()
    if not found.is_ready or facts is None:
        raise Problem(f"{found}: {found.problem}. Then run this again.")
    say(", ".join(describe_system(facts)))
    for interface in facts.interfaces:
        say(f"  {describe_interface(interface)}")
    return facts


def complete_interface_choice(machine: JoiningMachine, facts: MachineFacts, options: dict[str, Any]) -> SuggestedInterfaces:
    """Return what was given, and what is suggested for the rest. Raises Problem if something is missing."""
    given = {role: options[role] for role in ROLES if options[role] is not None}
    chosen = replace(suggest_for_machine(machine, facts), **given)
    if options["management_network"]:
        chosen = replace(chosen, networks=tuple(options["management_network"]))
    missing = [f"--{role}" for role in ROLES[:3] if not getattr(chosen, role)]
    if missing:
        raise Problem(f"Nothing is suggested for {', '.join(missing)}. Give them, and run this again.")
    return chosen


def finish(machine: JoiningMachine, chosen: SuggestedInterfaces, options: dict[str, Any]) -> Gateway:
    """Make a gateway of the machine. Raises Problem."""
    given = {role: getattr(chosen, role) for role in ROLES} | {name: options[name] for name in ("sync_address", "carries")}
    return services.finish_joining(machine=machine, management_networks=chosen.networks, **given)


def _examine(machine: JoiningMachine) -> JoiningMachine:
    found = examine_machine(machine.pk)
    if found is None:
        raise Problem(f"{machine} does not join any more.")
    return found
