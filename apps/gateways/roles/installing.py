"""Installation of a gateway's failover files by its agent: on trial, and kept when the portal has seen that all goes on with them.

The gateway puts the files before back by itself unless they are confirmed, so a worker or a portal that dies in the middle changes nothing.
"""

import time
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from django.utils import translation

from apps.deployments.rollouts.probing import ProbeResult, probe_gateway
from apps.deployments.transport.agent_channel import AgentChannel, ChannelOf, Unreachable, open_own_channels
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from apps.gateways.failover_files import build_install_request
from apps.gateways.roles.install_plan import plan_file_install
from apps.gateways.roles.models import FailoverStatus, RoleSwitch
from apps.gateways.roles.observation import list_roles, map_carriers, observe_group
from apps.gateways.roles.outcomes import InstallStep, Outcome, SwitchFailed, end_sentence
from firewall.file_trial import FileTrial, FileTrialIs, FileTrialPhase, InstallFiles, KeepFiles, RevertFiles
from firewall.wire import Request

BEGIN: Final = 300.0  # seconds until the files are on trial; the gateway gives up by itself after 120 s with programs that do not work
END: Final = 120.0  # seconds until the gateway has kept the files, or put those before back
PAUSE: Final = 0.5  # seconds between two questions
MARGIN: Final = 2.0  # seconds more than a gateway waits that hears nobody, before it carries
OVER: Final = (FileTrialPhase.REFUSED, FileTrialPhase.NONE)  # NONE: the gateway has booted, with the files before
BOOTED: Final = "It booted during the trial."


@dataclass(frozen=True)
class StateBeforeTrial:
    """How it was before the trial. carriers: names of gateways by family. failing: families whose packets did not pass this gateway."""

    carriers: Mapping[int, Sequence[str]]
    failing: frozenset[int]


def install_files(row: RoleSwitch, channel_of: ChannelOf) -> tuple[Outcome, dict[str, str]]:
    """Install the files, and keep them if all goes on with them. Return the outcome.

    Raises SwitchFailed; Unreachable or AgentRefused if it is not known how it ended.
    """
    observe_group(row.group, channel_of)
    with translation.override("en"):
        plan = plan_file_install(row.gateway)
    if plan.obstacle:
        raise SwitchFailed(Outcome.REFUSED, reason=str(plan.obstacle))
    wanted, channel = build_install_request(row.gateway), channel_of(row.gateway)
    try:
        expect_answer(FileTrialIs, channel.ask(FileTrial()))
        before = StateBeforeTrial(map_carriers(list_roles(row.group)), _list_failing(probe_gateway(channel, row.gateway)))
    except (Unreachable, AgentRefused) as fault:
        raise SwitchFailed(Outcome.REFUSED, reason=end_sentence(str(fault))) from fault
    _begin(row, channel, wanted)
    try:
        packets = _watch(row, before)
    except SwitchFailed:
        _note_step(row, InstallStep.REVERTING)
        with suppress(Unreachable, AgentRefused):  # without an answer it does that by itself
            _await_phase(channel, RevertFiles(), OVER, END)
        raise
    _note_step(row, InstallStep.KEEPING)
    told = _await_phase(channel, KeepFiles(wanted.digest), (FileTrialPhase.KEPT, *OVER), END)
    if told != FileTrialIs(FileTrialPhase.KEPT, wanted.digest):
        raise SwitchFailed(Outcome.NOT_INSTALLED, reason=told.problem or BOOTED)
    return Outcome.INSTALLED, {"packets": packets}


def _begin(row: RoleSwitch, channel: AgentChannel, wanted: InstallFiles) -> None:
    """Return when the files are on trial. Raises SwitchFailed if they do not get so far."""
    _note_step(row, InstallStep.ASKED)
    try:
        expect_answer(FileTrialIs, channel.ask(wanted))
    except AgentRefused as refused:
        raise SwitchFailed(Outcome.REFUSED, reason=end_sentence(str(refused))) from refused
    told = _await_phase(channel, FileTrial(), (FileTrialPhase.TRIAL, *OVER), BEGIN)
    if told.phase is FileTrialPhase.ASKED:
        channel.ask(RevertFiles())
        raise SwitchFailed(Outcome.NOT_BEGUN, seconds=f"{BEGIN:.0f}")
    if told != FileTrialIs(FileTrialPhase.TRIAL, wanted.digest):
        raise SwitchFailed(Outcome.NOT_INSTALLED, reason=told.problem or BOOTED)


def _await_phase(channel: AgentChannel, request: Request, phases: Container[FileTrialPhase], within: float) -> FileTrialIs:
    """Send the request until the gateway tells one of the phases, which it returns. Meanwhile the gateway may be away.

    within: seconds after which it returns what was told last. Raises Unreachable if there was no answer then, or AgentRefused.
    """
    end = time.monotonic() + within
    while True:
        try:
            told = expect_answer(FileTrialIs, channel.ask(request))
            if told.phase in phases or time.monotonic() > end:
                return told
        except Unreachable:
            if time.monotonic() > end:
                raise
        time.sleep(PAUSE)


def _watch(row: RoleSwitch, before: StateBeforeTrial) -> str:
    """Look at the group over new sessions, when a gateway that hears nobody has taken over. Return what the probe says of the families
    that this gateway carries. Raises SwitchFailed if members would be worse off than before.
    """
    _note_step(row, InstallStep.TRIAL)
    time.sleep(4 * row.group.failover.interval / 100 + MARGIN)
    with open_own_channels() as channel_of:
        observe_group(row.group, channel_of)
        if problem := FailoverStatus.objects.get(gateway=row.gateway).problem:
            raise SwitchFailed(Outcome.NOT_INSTALLED, reason=end_sentence(problem))
        carriers = map_carriers(list_roles(row.group))
        _require_one_carrier(carriers, before)
        try:
            probed = probe_gateway(channel_of(row.gateway), row.gateway)
        except Unreachable as away:
            raise SwitchFailed(Outcome.NOT_INSTALLED, reason=end_sentence(str(away))) from away
    return _require_packets(probed, carriers, before, row.gateway.name)


def _require_one_carrier(carriers: Mapping[int, Sequence[str]], before: StateBeforeTrial) -> None:
    for family, names in carriers.items():
        if len(names) > 1:
            raise SwitchFailed(Outcome.TWO_CARRIERS, family=str(family), names=", ".join(names))
        if not names and before.carriers.get(family):
            raise SwitchFailed(Outcome.NO_CARRIER, family=str(family))


def _require_packets(probed: Sequence[ProbeResult], carriers: Mapping[int, Sequence[str]], before: StateBeforeTrial, name: str) -> str:
    for each in probed:
        if each.ok is False and each.family not in before.failing:
            raise SwitchFailed(Outcome.NO_MORE_PACKETS, reason=each.sentence)
    return " ".join(each.sentence for each in probed if each.ok and name in carriers.get(each.family, ()))


def _list_failing(probed: Sequence[ProbeResult]) -> frozenset[int]:
    return frozenset(each.family for each in probed if each.ok is False)


def _note_step(row: RoleSwitch, step: InstallStep) -> None:
    RoleSwitch.objects.filter(pk=row.pk).update(details={"step": step.value})
