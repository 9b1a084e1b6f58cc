"""How far a rollout is, for the page: its state, the pair of its gateways, and the sentence that says what is true.

Its lanes are in `lanes`. In come rows with their steps and gateways read; the time is passed in. Reads nothing itself.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.revision_pages.change_summary import in_words, lines_of
from apps.deployments.rollouts import evidence
from apps.lib.ui import formats
from apps.lib.ui.states import Kind, On, Post, State

_ON = {
    RolloutStep.State.WAITING: On.HOLLOW,
    RolloutStep.State.SKIPPED: On.HOLLOW,
    RolloutStep.State.CONFIRMED: On.FULL,
    **dict.fromkeys(RolloutStep.MOVING, On.HALF),
    **dict.fromkeys(RolloutStep.BAD, On.CROSSED),
}


@dataclass(frozen=True)
class Row:
    """A rollout as tables show it."""

    rollout: Rollout
    what: str
    who: str
    took: str
    posts: tuple[Post, ...]
    state: State


def row(rollout: Rollout, now: datetime) -> Row:
    """The rollout's row; `now` tells how long an open one has taken so far. It may be older than the rollout, if reading took long."""
    return Row(rollout, what_changes(rollout), who(rollout), took(rollout, now), posts(rollout), state(rollout))


def is_open(rollout: Rollout) -> bool:
    return rollout.state in Rollout.OPEN


def stamp(rollout: Rollout) -> str:
    """Changes with everything that moves on the page: the rollout's state, its steps', and whether it is known what changes."""
    steps = (f"{step.state}.{step.committed is not None:d}.{len(step.evidence)}.{step.doing}.{step.done}" for step in rollout.steps.all())
    return "-".join([rollout.state, *steps, f"{bool(rollout.revision.delta):d}", rollout.wish])


def what_changes(rollout: Rollout) -> str:
    """Such as “3 forwarded ports added, 1 removed; 2 bans added”."""
    revision = rollout.revision
    described = getattr(rollout, "described", None)
    if revision.delta if described is None else described:
        return in_words(lines_of(revision.changes))
    return _("being worked out") if is_open(rollout) else _("not known: a gateway did not answer")


def who(rollout: Rollout) -> str:
    """Whoever asked for it, or what did."""
    if rollout.revision.by:
        return rollout.revision.by.name
    causes = {"schedule": _("schedule"), "command": _("command line"), "change": _("a change"), "rollback": _("a rollback")}
    return causes.get(rollout.revision.cause, rollout.revision.cause)


def took(rollout: Rollout, now: datetime) -> str:
    if rollout.finished:
        return formats.duration((rollout.finished - rollout.created).total_seconds())
    return _("%(duration)s so far") % {"duration": formats.duration(max(0, round((now - rollout.created).total_seconds())))}


def posts(rollout: Rollout) -> tuple[Post, ...]:
    """One post per gateway, by name: the same place on every page."""
    return tuple(
        sorted((Post(step.gateway.name, _ON[RolloutStep.State(step.state)]) for step in rollout.steps.all()), key=lambda post: post.gateway)
    )


def state(rollout: Rollout) -> State:
    match rollout.state:
        case Rollout.State.CONFIRMED:
            lost = evidence.lost_in(rollout.steps.all())
            return State(Kind.WARN, _("Confirmed, a probe failed")) if lost else State(Kind.OK, _("Confirmed"))
        case Rollout.State.FAILED:
            return State(Kind.BAD, _("Failed"))
        case Rollout.State.ABORTED:
            return State(Kind.BAD, _("Stopped"))
        case Rollout.State.PAUSED:
            return State(Kind.WAIT, _("Paused"))
        case Rollout.State.QUEUED:
            return State(Kind.PLAIN, _("Queued"), "clock")
    return State(Kind.MOVING, _("Under way"))


# --- Gateways


def carries(ipv4: bool, ipv6: bool) -> str:
    """Which address families a gateway is primary for."""
    if ipv4 and ipv6:
        return _("IPv4 and IPv6 primary")
    return _("IPv4 primary") if ipv4 else _("IPv6 primary") if ipv6 else _("standby")


# --- The line of truth


@dataclass(frozen=True)
class Truth:
    """One sentence, what follows from it, and the colour of both."""

    kind: Kind
    sentence: str
    follows: str = ""


def truth(rollout: Rollout, newer: Rollout | None, in_memory: Set[str]) -> Truth:
    """What is true of the rollout now. `newer`: the last one of its group, when this is not it; `in_memory`: gateways without a kernel."""
    names = {on: [step.gateway.name for step in rollout.steps.all() if _ON[RolloutStep.State(step.state)] is on] for on in On}
    memory = _("In memory: no packet passes.") if in_memory & set(names[On.FULL]) else ""
    after = _("%(newer)s came after it.") % {"newer": newer} if newer else ""
    match rollout.state:
        case Rollout.State.QUEUED:
            follows = _("If none takes it, the next look by schedule does.")
            return Truth(Kind.MOVING, _("%(revision)s waits for a worker.") % {"revision": rollout}, follows)
        case Rollout.State.APPLYING:
            return Truth(Kind.MOVING, _spaced(_runs(rollout, names[On.FULL]), _moving(rollout)), _follows(rollout, names[On.HOLLOW]))
        case Rollout.State.PAUSED:
            return Truth(Kind.WAIT, _spaced(_runs(rollout, names[On.FULL]), _paused(rollout)), _waiting(names[On.HOLLOW]))
        case Rollout.State.FAILED:
            return Truth(Kind.BAD, _failed(rollout, names, past=newer is not None), after or _unlucky(rollout))
        case Rollout.State.ABORTED:
            follows = after or _("Whoever has confirmed it keeps it; the others run what they ran before.")
            return Truth(Kind.BAD, _spaced(_stopped(rollout), _failed(rollout, names, past=newer is not None)), follows)
    lost = evidence.lost_in(rollout.steps.all())
    kind = Kind.WARN if lost and not newer else Kind.OK
    return Truth(kind, _runs(rollout, names[On.FULL], past=newer is not None), _spaced(*lost, memory, after))


def _moving(rollout: Rollout) -> str:
    """Of the gateway whose turn it is."""
    words = {
        RolloutStep.State.PROBING: _("%(gateway)s is on trial."),
        RolloutStep.State.CONFIRMING: _("%(gateway)s waits for its confirmation."),
        RolloutStep.State.REVERTING: _("%(gateway)s is going back."),
        RolloutStep.State.ASKING: _("%(gateway)s is being asked what became of it."),
        RolloutStep.State.SENDING: _("%(gateway)s is under way."),
    }
    moving = next((step for step in rollout.steps.all() if step.state in RolloutStep.MOVING), None)
    return words[RolloutStep.State(moving.state)] % {"gateway": moving.gateway} if moving else ""


def _follows(rollout: Rollout, hollow: Sequence[str]) -> str:
    trial = next((step for step in rollout.steps.all() if step.state in (RolloutStep.State.PROBING, RolloutStep.State.CONFIRMING)), None)
    without = _("Without a confirmation %(gateway)s goes back by itself.") % {"gateway": trial.gateway} if trial else ""
    if rollout.wish == "abort":
        return _spaced(without, _("Then the rollout stops, as %(name)s wants it.") % {"name": _stopper(rollout)})
    if rollout.wish == "pause":
        return _spaced(without, _("Then the rollout pauses, as %(name)s wants it.") % {"name": _stopper(rollout)})
    return _spaced(without, _waiting(hollow))


def _stopper(rollout: Rollout) -> str:
    return rollout.stopped_by.name if rollout.stopped_by else _("somebody who is gone")


def _paused(rollout: Rollout) -> str:
    return _("%(name)s has paused the rollout.") % {"name": _stopper(rollout)}


def _stopped(rollout: Rollout) -> str:
    return _("%(name)s has stopped the rollout.") % {"name": _stopper(rollout)}


def _unlucky(rollout: Rollout) -> str:
    states = {step.state for step in rollout.steps.all()}
    if RolloutStep.State.LOST in states:
        return _("What the one that stopped answering runs is known when it answers again.")
    return _("Where it failed nothing changed: what ran there before runs on.")


def truths(newest: Iterable[Rollout]) -> list[Truth]:
    """What is true of each group's last rollout."""
    return [truth(rollout, None, frozenset()) for rollout in newest]


def _spaced(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def listed(names: Sequence[str]) -> str:
    """nat-1; nat-1 and nat-2; nat-1, nat-2 and nat-3."""
    if len(names) < 2:
        return "".join(names)
    return _("%(some)s and %(last)s") % {"some": ", ".join(names[:-1]), "last": names[-1]}


def _runs(rollout: Rollout, names: Sequence[str], *, past: bool = False) -> str:
    if not names:
        return ""
    given = {"gateways": listed(names), "revision": rollout}
    if past:
        return ngettext("%(gateways)s confirmed %(revision)s.", "%(gateways)s confirmed %(revision)s.", len(names)) % given
    return ngettext("%(gateways)s runs %(revision)s.", "%(gateways)s run %(revision)s.", len(names)) % given


def _waiting(names: Sequence[str]) -> str:
    return _("Then %(gateways)s.") % {"gateways": listed(names)} if names else ""


def _failed(rollout: Rollout, names: dict[On, list[str]], *, past: bool) -> str:
    missed = sorted(names[On.CROSSED] + names[On.HALF] + names[On.HOLLOW])
    words = ngettext("%(gateways)s was not brought to %(revision)s.", "%(gateways)s were not brought to %(revision)s.", len(missed))
    return _spaced(_runs(rollout, names[On.FULL], past=past), words % {"gateways": listed(missed), "revision": rollout})
