"""What the page of a joining machine shows: one sentence, the checks with their evidence, and the interfaces to choose from."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.deployments.transport import ssh
from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.joining.install_command import InstallCommand, build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.suggestions import SuggestedInterfaces, TwinNames, suggest_interfaces
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.models import Pool
from firewall.machine import MachineFacts, MachineInterface

OVERDUE = timedelta(seconds=30)  # a requested examination that is not done
CLOCK_TOLERANCE = 1000  # milliseconds
Progress = JoiningMachine.Progress
_WAITS_FOR_PERSON: Final = (Progress.REACHED, Progress.CHANGED)
_ACCEPTS_KEY: Final = (Progress.SILENT, Progress.FOREIGN, Progress.READY)


@dataclass(frozen=True, slots=True)
class JoiningStatus:
    """A joining machine as its page shows it. fingerprint: of the key to compare, "" if there is none. polls: it changes by itself."""

    machine: JoiningMachine
    kind: StateKind
    sentence: str
    follows: str
    checks: list[StateLabel]
    command: InstallCommand | None
    fingerprint: str
    polls: bool


def describe_joining(machine: JoiningMachine, now: datetime) -> JoiningStatus:
    """Describe how far the machine is."""
    kind, sentence, follows = _describe_progress(machine, now)
    compares = machine.seen_key and (not machine.host_key or machine.progress == Progress.CHANGED)
    fingerprint = ssh.compute_fingerprint(machine.seen_key) if compares else ""
    polls = not machine.is_ready and not (machine.progress in _WAITS_FOR_PERSON and bool(fingerprint))
    return JoiningStatus(machine, kind, sentence, follows, list_checks(machine), build_install_command(machine), fingerprint, polls)


def _describe_progress(machine: JoiningMachine, now: datetime) -> tuple[StateKind, str, str]:
    """Return the kind, the sentence and what follows from it."""
    if machine.waits_since and now - machine.waits_since > OVERDUE and not machine.is_ready and machine.progress not in _WAITS_FOR_PERSON:
        return StateKind.WARN, _("No worker has looked at this machine lately."), _("Is the worker “collector” running?")
    name, problem = {"name": machine.name}, machine.problem
    match machine.progress:
        case Progress.UNREACHED:
            return StateKind.MOVING, _("%(name)s is not reached yet.") % name, problem
        case Progress.REACHED if machine.host_key:
            return StateKind.MOVING, _("The host key is accepted. The portal signs in."), ""
        case Progress.REACHED:
            return StateKind.WAIT, _("%(name)s shows a host key. Compare it.") % name, ""
        case Progress.CHANGED:
            return StateKind.BAD, _("%(name)s shows another host key than the one that was accepted.") % name, problem
        case Progress.REFUSED:
            return StateKind.MOVING, _("%(name)s does not accept the portal’s key yet.") % name, _("Paste the command on it.")
        case Progress.SILENT:
            return StateKind.BAD, _("The agent on %(name)s does not answer.") % name, problem
        case Progress.FOREIGN:
            return StateKind.BAD, _("The agent on %(name)s does not fit this portal.") % name, problem
        case Progress.READY:
            return StateKind.WAIT, _("%(name)s is ready. Choose its interfaces.") % name, ""
    return StateKind.MOVING, _("A worker looks at %(name)s.") % name, problem


def list_checks(machine: JoiningMachine) -> list[StateLabel]:
    """Return the checks in their order, each with what was found."""
    facts = machine.parse_facts() if machine.is_ready else None
    checks = [_check_reach(machine), _check_host_key(machine), _check_session(machine), _check_agent(machine, facts)]
    return checks + ([_check_forwarding(facts), _check_clock(machine)] if facts else [])


def _check_reach(machine: JoiningMachine) -> StateLabel:
    if machine.connect_ms is None:
        return StateLabel(StateKind.PLAIN, _("not reached"))
    return StateLabel(StateKind.OK, _("reached, %(ms)s ms") % {"ms": formats.format_number(machine.connect_ms, 1)})


def _check_host_key(machine: JoiningMachine) -> StateLabel:
    if machine.progress == Progress.CHANGED:
        return StateLabel(StateKind.BAD, _("another host key"))
    return StateLabel(StateKind.OK, _("host key compared")) if machine.host_key else StateLabel(StateKind.PLAIN, _("host key not compared"))


def _check_session(machine: JoiningMachine) -> StateLabel:
    if machine.progress in _ACCEPTS_KEY:
        return StateLabel(StateKind.OK, _("key accepted"))
    return StateLabel(StateKind.PLAIN, _("key not accepted"))


def _check_agent(machine: JoiningMachine, facts: MachineFacts | None) -> StateLabel:
    if facts is None:
        failed = machine.progress in (Progress.SILENT, Progress.FOREIGN)
        return StateLabel(StateKind.BAD if failed else StateKind.PLAIN, _("no agent"))
    ours = build_agent_package().version
    if facts.agent != ours:
        return StateLabel(StateKind.WARN, _("agent %(found)s, this portal’s is %(ours)s") % {"found": facts.agent, "ours": ours})
    return StateLabel(StateKind.OK, _("agent %(version)s answers") % {"version": facts.agent})


def _check_forwarding(facts: MachineFacts) -> StateLabel:
    missing = [family for family, on in (("IPv4", facts.forwards4), ("IPv6", facts.forwards6)) if not on]
    if missing:
        return StateLabel(StateKind.WARN, _("does not forward %(families)s") % {"families": ", ".join(missing)})
    return StateLabel(StateKind.OK, _("forwarding on"))


def _check_clock(machine: JoiningMachine) -> StateLabel:
    offset = machine.clock_offset or 0
    if abs(offset) <= CLOCK_TOLERANCE + (machine.clock_doubt or 0):
        return StateLabel(StateKind.OK, _("clock right"))
    seconds = {"seconds": formats.format_number(abs(offset) / 1000, 0)}
    return StateLabel(StateKind.WARN, (_("clock %(seconds)s s ahead") if offset > 0 else _("clock %(seconds)s s behind")) % seconds)


def describe_system(facts: MachineFacts) -> list[str]:
    """Return what runs on the machine, in a few words each."""
    kernel = _("kernel %(version)s") % {"version": facts.kernel}
    return [*filter(None, [facts.system]), kernel, *([f"nft {facts.nft}"] if facts.nft else [])]


def suggest_for_machine(machine: JoiningMachine, facts: MachineFacts) -> SuggestedInterfaces:
    """Suggest interfaces by what the machine reports, the group's pools and its other gateways."""
    others = sorted(machine.group.gateways.all(), key=lambda each: each.pk)
    return suggest_interfaces(
        facts,
        address=machine.address,
        portal=machine.portal_address,
        pools=[each.prefix for each in machine.group.pools.all() if each.kind != Pool.Kind.PUBLIC4],
        twins=[TwinNames(each.lan, each.wan, each.management, each.sync) for each in others],
        twin_networks=others[0].management_networks if others else (),
    )


def describe_interface(interface: MachineInterface) -> str:
    """Return an interface in a line: name, addresses, state, what it is, MAC, and whether a default route leaves by it."""
    addresses = [f"{each.address}/{each.length}" for each in interface.addresses]
    families = [family for family, on in (("IPv4", interface.default4), ("IPv6", interface.default6)) if on]
    parts = [
        interface.name,
        ", ".join(addresses) or _("not addressed"),
        pgettext("interface", "up") if interface.is_up else pgettext("interface", "down"),
        interface.kind,
        _("default route %(families)s") % {"families": " + ".join(families)} if families else "",
        interface.mac,
    ]
    return " · ".join(filter(None, parts))
