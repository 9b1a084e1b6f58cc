"""How far a rollout is, for the page: its state, the pair of its gateways, its lanes, and the sentence that says what is true.

In come rows with their steps and gateways read; the time is passed in. Reads nothing itself.
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.words import in_words, lines_of
from apps.lib import formats
from apps.lib.states import Kind, Lane, On, Post, State, Step

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
    """The rollout's row; `now` tells how long an open one has taken so far."""
    return Row(rollout, what_changes(rollout), who(rollout), took(rollout, now), posts(rollout), state(rollout))


def is_open(rollout: Rollout) -> bool:
    return rollout.state in Rollout.OPEN


def stamp(rollout: Rollout) -> str:
    """Changes with everything that moves on the page: the rollout's state, its steps', and whether it is known what changes."""
    steps = (f"{step.state}-{step.committed is not None:d}" for step in rollout.steps.all())
    return "-".join([rollout.state, *steps, f"{bool(rollout.revision.delta):d}"])


def what_changes(rollout: Rollout) -> str:
    """Such as “3 port forwards added, 1 removed; 2 bans added”."""
    revision = rollout.revision
    described = getattr(rollout, "described", None)
    if revision.delta if described is None else described:
        return in_words(lines_of(revision.changes))
    return _("being worked out") if is_open(rollout) else _("not known: the first gateway did not answer")


def who(rollout: Rollout) -> str:
    """Whoever asked for it, or what did."""
    if rollout.revision.by:
        return rollout.revision.by.name
    causes = {"schedule": _("schedule"), "command": _("command line"), "change": _("a change")}
    return causes.get(rollout.revision.cause, rollout.revision.cause)


def took(rollout: Rollout, now: datetime) -> str:
    if rollout.finished:
        return formats.duration((rollout.finished - rollout.created).total_seconds())
    return _("%(duration)s so far") % {"duration": formats.duration(round((now - rollout.created).total_seconds()))}


def posts(rollout: Rollout) -> tuple[Post, ...]:
    """One post per gateway, by name: the same place on every page."""
    return tuple(
        sorted((Post(step.gateway.name, _ON[RolloutStep.State(step.state)]) for step in rollout.steps.all()), key=lambda post: post.gateway)
    )


def state(rollout: Rollout) -> State:
    match rollout.state:
        case Rollout.State.CONFIRMED:
            return State(Kind.OK, _("Confirmed"))
        case Rollout.State.FAILED:
            return State(Kind.BAD, _("Failed"))
        case Rollout.State.ABORTED:
            return State(Kind.BAD, _("Stopped"))
        case Rollout.State.PAUSED:
            return State(Kind.WAIT, _("Paused"))
        case Rollout.State.QUEUED:
            return State(Kind.PLAIN, _("Queued"), "clock")
    return State(Kind.MOVING, _("Under way"))


# --- Lanes


@dataclass(frozen=True)
class ShownLane:
    """A gateway's lane; what went wrong on it, and what to do."""

    lane: Lane
    error: str = ""
    advice: str = ""


def lanes(rollout: Rollout, away: Set[str]) -> list[ShownLane]:
    """One per gateway, in the order of the rollout. `away`: names of gateways that do not answer now."""
    steps = list(rollout.steps.all())
    return [
        ShownLane(
            Lane(step.gateway.name, _place(step, len(steps)), _lane_state(step, rollout), _steps(step)),
            step.error,
            _advice(step.gateway.name, away) if step.error else "",
        )
        for step in steps
    ]


def _advice(gateway: str, away: Set[str]) -> str:
    if gateway in away:
        return _("%(gateway)s does not answer. What it misses follows by itself as soon as it does.") % {"gateway": gateway}
    return _("Nothing changed on %(gateway)s. The same is not tried again by itself: mend the cause, then try again.") % {
        "gateway": gateway
    }


def _place(step: RolloutStep, of: int) -> str:
    places = (_("first"), _("second"), _("third"))
    place = places[step.position] if step.position < len(places) else str(step.position + 1)
    return ", ".join(filter(None, [place if of > 1 else "", carries(step.gateway.carries4, step.gateway.carries6)]))


def carries(ipv4: bool, ipv6: bool) -> str:
    """Which address families a gateway is primary for."""
    if ipv4 and ipv6:
        return _("IPv4 and IPv6 primary")
    return _("IPv4 primary") if ipv4 else _("IPv6 primary") if ipv6 else _("standby")


def _lane_state(step: RolloutStep, rollout: Rollout) -> State:
    match step.state:
        case RolloutStep.State.CONFIRMED if step.sent and step.confirmed:
            return State(
                Kind.OK, _("Confirmed in %(duration)s") % {"duration": formats.duration((step.confirmed - step.sent).total_seconds())}
            )
        case RolloutStep.State.REFUSED:
            return State(Kind.BAD, _("Refused"))
        case RolloutStep.State.AWAY:
            return State(Kind.BAD, _("Does not answer"))
        case RolloutStep.State.LOST:
            return State(Kind.BAD, _("Lost in the middle"))
        case RolloutStep.State.WENT_BACK:
            return State(Kind.BAD, _("Gone back"))
        case RolloutStep.State.REVERTING if is_open(rollout):
            return State(Kind.MOVING, _("Going back"))
        case _ if step.state in RolloutStep.MOVING and is_open(rollout):
            return State(Kind.MOVING, _("Under way"))
    return State(Kind.PLAIN, _("Waits for its turn"), "clock") if is_open(rollout) else State(Kind.PLAIN, _("Not reached"))


def _steps(step: RolloutStep) -> tuple[Step, ...]:
    """Sent, committed, read back, confirmed: what is done with its evidence, then the one under way or failed, then what is to come."""
    octets = formats.volume(step.sent_octets) if step.sent_octets else ""
    evidence = [
        (_("Sent"), step.sent, _join(_clock(step.sent), octets)),
        (_("Committed"), step.committed, _milliseconds(step.commit_ms)),
        (_("Read back"), step.committed, _join(_milliseconds(step.read_back_ms), _("equal"))),
        (_("Confirmed"), step.confirmed, _clock(step.confirmed)),
    ]
    done = sum(at is not None for _title, at, _words in evidence)
    next_kind = Kind.MOVING if step.state in RolloutStep.MOVING else Kind.BAD if step.state in RolloutStep.BAD else Kind.PLAIN
    kinds = [Kind.OK] * done + [next_kind] + [Kind.PLAIN] * len(evidence)
    return tuple(Step(kind, title, words if kind is Kind.OK else "") for kind, (title, _at, words) in zip(kinds, evidence, strict=False))


def _join(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _milliseconds(value: int) -> str:
    """Agents count whole milliseconds."""
    unit = f"{formats.SPACE}ms"
    return f"{formats.number(value)}{unit}" if value else _("under %(time)s") % {"time": f"1{unit}"}


def _clock(at: datetime | None) -> str:
    """21:13:40.12"""
    if at is None:
        return ""
    local = at.astimezone(get_current_timezone())
    return f"{local:%H:%M:%S}{',' if formats.german() else '.'}{local.microsecond // 10_000:02d}"


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
    after = _("%(newer)s came after it.") % {"newer": newer} if newer else ""
    memory = _("In memory: no packet passes.") if in_memory & set(names[On.FULL]) else ""
    match rollout.state:
        case Rollout.State.QUEUED:
            follows = _("If none takes it, the next look by schedule does.")
            return Truth(Kind.MOVING, _("%(revision)s waits for a worker.") % {"revision": rollout}, follows)
        case Rollout.State.APPLYING:
            return Truth(Kind.MOVING, _spaced(_runs(rollout, names[On.FULL]), _under_way(names[On.HALF])), _waiting(names[On.HOLLOW]))
        case Rollout.State.PAUSED:
            return Truth(Kind.WAIT, _spaced(_runs(rollout, names[On.FULL]), _("The rollout is paused.")), _waiting(names[On.HOLLOW]))
        case Rollout.State.FAILED | Rollout.State.ABORTED:
            follows = after or _("Where it failed nothing changed: what ran there before runs on.")
            return Truth(Kind.BAD, _failed(rollout, names, past=newer is not None), follows)
    return Truth(Kind.OK, _runs(rollout, names[On.FULL], past=newer is not None), _spaced(memory, after))


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


def _under_way(names: Sequence[str]) -> str:
    return _("%(gateways)s is under way.") % {"gateways": listed(names)} if names else ""


def _waiting(names: Sequence[str]) -> str:
    return _("Then %(gateways)s.") % {"gateways": listed(names)} if names else ""


def _failed(rollout: Rollout, names: dict[On, list[str]], *, past: bool) -> str:
    missed = sorted(names[On.CROSSED] + names[On.HALF] + names[On.HOLLOW])
    words = ngettext("%(gateways)s was not brought to %(revision)s.", "%(gateways)s were not brought to %(revision)s.", len(missed))
    return _spaced(_runs(rollout, names[On.FULL], past=past), words % {"gateways": listed(missed), "revision": rollout})
