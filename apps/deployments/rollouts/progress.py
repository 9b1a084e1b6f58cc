"""Progress of a rollout for the page: its state, a post per gateway, and the status line.

`gateway_progress` builds the lanes. Rows come with their steps and gateways prefetched; the time is passed in. Reads nothing itself.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.revision_pages.change_summary import parse_summary_lines, render_summary
from apps.deployments.rollouts import evidence
from apps.lib.ui import formats
from apps.lib.ui.states import GatewaySymbol, StateKind, StateLabel, SymbolState

_ON = {
    RolloutStep.State.WAITING: SymbolState.HOLLOW,
    RolloutStep.State.SKIPPED: SymbolState.HOLLOW,
    RolloutStep.State.CONFIRMED: SymbolState.FULL,
    **dict.fromkeys(RolloutStep.MOVING, SymbolState.HALF),
    **dict.fromkeys(RolloutStep.BAD, SymbolState.CROSSED),
}


@dataclass(frozen=True)
class RolloutRow:
    """A rollout as tables show it."""

    rollout: Rollout
    what: str
    who: str
    took: str
    posts: tuple[GatewaySymbol, ...]
    state: StateLabel


def build_rollout_row(rollout: Rollout, now: datetime) -> RolloutRow:
    """Build the rollout's table row. `now`: for the duration of an open one; may be before the rollout's start if reading took long."""
    return RolloutRow(
        rollout,
        render_changes(rollout),
        render_requester(rollout),
        render_duration(rollout, now),
        build_gateway_symbols(rollout),
        build_rollout_state_label(rollout),
    )


def is_rollout_open(rollout: Rollout) -> bool:
    return rollout.state in Rollout.OPEN


def compute_stamp(rollout: Rollout) -> str:
    """Return a value that changes with everything that moves on the page: states, evidence and progress, wish, and a known delta."""
    steps = (f"{step.state}.{step.committed is not None:d}.{len(step.evidence)}.{step.doing}.{step.done}" for step in rollout.steps.all())
    return "-".join([rollout.state, *steps, f"{bool(rollout.revision.delta):d}", rollout.wish])


def render_changes(rollout: Rollout) -> str:
    """Return text such as “3 forwarded ports added, 1 removed; 2 bans added”, or that gateways got once more what they should have."""
    revision = rollout.revision
    described = getattr(rollout, "described", None)
    if revision.delta if described is None else described:
        lines = parse_summary_lines(revision.changes)
        return render_summary(lines) if lines else _("the same ruleset again")
    return _("being computed") if is_rollout_open(rollout) else _("not known: a gateway did not answer")


def render_requester(rollout: Rollout) -> str:
    """Return the name of the user who asked for it, or its cause."""
    if rollout.revision.by:
        return rollout.revision.by.name
    causes = {"schedule": _("schedule"), "command": _("command line"), "change": _("a change"), "rollback": _("a rollback")}
    return causes.get(rollout.revision.cause, rollout.revision.cause)


def render_duration(rollout: Rollout, now: datetime) -> str:
    if rollout.finished:
        return formats.format_duration((rollout.finished - rollout.created).total_seconds())
    return _("%(duration)s so far") % {"duration": formats.format_duration(max(0, round((now - rollout.created).total_seconds())))}


def build_gateway_symbols(rollout: Rollout) -> tuple[GatewaySymbol, ...]:
    """Build one post per gateway, sorted by name, so that each has the same place on every page."""
    return tuple(
        sorted(
            (GatewaySymbol(step.gateway.name, _ON[RolloutStep.State(step.state)]) for step in rollout.steps.all()),
            key=lambda post: post.gateway,
        )
    )


def build_rollout_state_label(rollout: Rollout) -> StateLabel:
    match rollout.state:
        case Rollout.State.CONFIRMED:
            lost = evidence.describe_all_lost_packets(rollout.steps.all())
            return StateLabel(StateKind.WARN, _("Confirmed, a probe failed")) if lost else StateLabel(StateKind.OK, _("Confirmed"))
        case Rollout.State.FAILED:
            return StateLabel(StateKind.BAD, _("Failed"))
        case Rollout.State.ABORTED:
            return StateLabel(StateKind.BAD, _("Stopped"))
        case Rollout.State.PAUSED:
            return StateLabel(StateKind.WAIT, _("Paused"))
        case Rollout.State.QUEUED:
            return StateLabel(StateKind.PLAIN, _("Queued"), "clock")
    return StateLabel(StateKind.MOVING, _("Under way"))


# --- Gateways


def render_primary_families(ipv4: bool, ipv6: bool) -> str:
    """Return which address families a gateway is primary for."""
    if ipv4 and ipv6:
        return _("IPv4 and IPv6 primary")
    return _("IPv4 primary") if ipv4 else _("IPv6 primary") if ipv6 else _("standby")


# --- The status line


@dataclass(frozen=True)
class RolloutStatusLine:
    """A sentence, what follows from it, and the colour of both."""

    kind: StateKind
    sentence: str
    follows: str = ""


def build_status_line(rollout: Rollout, newer: Rollout | None, in_memory: Set[str]) -> RolloutStatusLine:
    """Build the status line. `newer`: the group's latest rollout if it is not this one. `in_memory`: names of gateways without a kernel."""
    names = {on: [step.gateway.name for step in rollout.steps.all() if _ON[RolloutStep.State(step.state)] is on] for on in SymbolState}
    memory = _("In memory only: no packets pass.") if in_memory & set(names[SymbolState.FULL]) else ""
    after = _("%(newer)s came after it.") % {"newer": newer} if newer else ""
    match rollout.state:
        case Rollout.State.QUEUED:
            follows = _("If no worker is free, the next scheduled run picks it up.")
            return RolloutStatusLine(StateKind.MOVING, _("%(revision)s waits for a worker.") % {"revision": rollout}, follows)
        case Rollout.State.APPLYING:
            return RolloutStatusLine(
                StateKind.MOVING,
                _join_sentences(_render_running(rollout, names[SymbolState.FULL]), _render_moving(rollout)),
                _render_next(rollout, names[SymbolState.HOLLOW]),
            )
        case Rollout.State.PAUSED:
            return RolloutStatusLine(
                StateKind.WAIT,
                _join_sentences(_render_running(rollout, names[SymbolState.FULL]), _render_paused(rollout)),
                _render_waiting(names[SymbolState.HOLLOW]),
            )
        case Rollout.State.FAILED:
            return RolloutStatusLine(
                StateKind.BAD, _render_failed(rollout, names, past=newer is not None), after or _render_failure_hint(rollout)
            )
        case Rollout.State.ABORTED:
            follows = after or _("Gateways that have confirmed it keep it; the others run what they ran before.")
            return RolloutStatusLine(
                StateKind.BAD, _join_sentences(_render_stopped(rollout), _render_failed(rollout, names, past=newer is not None)), follows
            )
    lost = evidence.describe_all_lost_packets(rollout.steps.all())
    kind = StateKind.WARN if lost and not newer else StateKind.OK
    return RolloutStatusLine(
        kind, _render_running(rollout, names[SymbolState.FULL], past=newer is not None), _join_sentences(*lost, memory, after)
    )


def _render_moving(rollout: Rollout) -> str:
    """Return a sentence about the current gateway."""
    words = {
        RolloutStep.State.PROBING: _("%(gateway)s is on trial."),
        RolloutStep.State.CONFIRMING: _("%(gateway)s waits for its confirmation."),
        RolloutStep.State.REVERTING: _("%(gateway)s is going back."),
        RolloutStep.State.ASKING: _("%(gateway)s is being asked for the result."),
        RolloutStep.State.SENDING: _("%(gateway)s is being updated."),
    }
    moving = next((step for step in rollout.steps.all() if step.state in RolloutStep.MOVING), None)
    return words[RolloutStep.State(moving.state)] % {"gateway": moving.gateway} if moving else ""


def _render_next(rollout: Rollout, hollow: Sequence[str]) -> str:
    trial = next((step for step in rollout.steps.all() if step.state in (RolloutStep.State.PROBING, RolloutStep.State.CONFIRMING)), None)
    without = _("Without a confirmation %(gateway)s goes back by itself.") % {"gateway": trial.gateway} if trial else ""
    if rollout.wish == "abort":
        return _join_sentences(without, _("Then the rollout stops, as requested by %(name)s.") % {"name": _get_stopper_name(rollout)})
    if rollout.wish == "pause":
        return _join_sentences(without, _("Then the rollout pauses, as requested by %(name)s.") % {"name": _get_stopper_name(rollout)})
    return _join_sentences(without, _render_waiting(hollow))


def _get_stopper_name(rollout: Rollout) -> str:
    return rollout.stopped_by.name if rollout.stopped_by else _("(deleted account)")


def _render_paused(rollout: Rollout) -> str:
    return _("%(name)s has paused the rollout.") % {"name": _get_stopper_name(rollout)}


def _render_stopped(rollout: Rollout) -> str:
    return _("%(name)s has stopped the rollout.") % {"name": _get_stopper_name(rollout)}


def _render_failure_hint(rollout: Rollout) -> str:
    states = {step.state for step in rollout.steps.all()}
    if RolloutStep.State.LOST in states:
        return _("What runs on the gateway that stopped answering will be known when it answers again.")
    return _("Where it failed, nothing changed: the gateway still runs what it ran before.")


def build_status_lines(newest: Iterable[Rollout]) -> list[RolloutStatusLine]:
    """Build the status line of each group's latest rollout."""
    return [build_status_line(rollout, None, frozenset()) for rollout in newest]


def _join_sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def join_names(names: Sequence[str]) -> str:
    """Return “nat-1”, “nat-1 and nat-2”, or “nat-1, nat-2 and nat-3”."""
    if len(names) < 2:
        return "".join(names)
    return _("%(some)s and %(last)s") % {"some": ", ".join(names[:-1]), "last": names[-1]}


def _render_running(rollout: Rollout, names: Sequence[str], *, past: bool = False) -> str:
    if not names:
        return ""
    given = {"gateways": join_names(names), "revision": rollout}
    if past:
        return ngettext("%(gateways)s confirmed %(revision)s.", "%(gateways)s confirmed %(revision)s.", len(names)) % given
    return ngettext("%(gateways)s runs %(revision)s.", "%(gateways)s run %(revision)s.", len(names)) % given


def _render_waiting(names: Sequence[str]) -> str:
    return _("Next: %(gateways)s.") % {"gateways": join_names(names)} if names else ""


def _render_failed(rollout: Rollout, names: dict[SymbolState, list[str]], *, past: bool) -> str:
    missed = sorted(names[SymbolState.CROSSED] + names[SymbolState.HALF] + names[SymbolState.HOLLOW])
    words = ngettext("%(gateways)s did not get %(revision)s.", "%(gateways)s did not get %(revision)s.", len(missed))
    return _join_sentences(
        _render_running(rollout, names[SymbolState.FULL], past=past), words % {"gateways": join_names(missed), "revision": rollout}
    )
