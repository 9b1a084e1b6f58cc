"""Close the difference between what the database asks for and what the gateways run.

Level-triggered: whoever calls, however often, the outcome is the same. One rollout per group is open at a time; the gateway
that carries fewer address families goes first.
"""

from collections.abc import Callable

import structlog

from apps.accounts.models import User
from apps.deployments import carry, link, rollouts
from apps.deployments.models import GatewayState, Rollout, RolloutStep
from apps.deployments.wanted import Wanted
from apps.deployments.watch import Watch
from apps.lib.nudge import nudge, send
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from firewall.diff import diff
from firewall.render import render_delta
from firewall.ruleset import Ruleset
from firewall.summary import Line, summarise, summarise_counts

log = structlog.get_logger()
memory = carry.Memory()
watch = Watch()

type Channels = Callable[[Gateway], link.Channel]


def in_order(group: GatewayGroup) -> list[Gateway]:
    """The group's gateways in the order of a rollout: whoever carries less goes first."""
    return sorted(group.gateways.all(), key=lambda gateway: (gateway.carries4 + gateway.carries6, gateway.name))


def request(*, by: User, force: bool = False) -> None:
    """Ask a worker to look now. force: also try again what a gateway refused or was not there for."""
    nudge("workers.reconcile", by.pk, force)


def reconcile(
    group: GatewayGroup, *, by: int | None = None, cause: str = "change", force: bool = False, channels: Channels = link.channel
) -> Rollout | None:
    """Bring the group's gateways to what the database asks for now. None when there is nothing to do, or another is at it.

    by: id of the user who asked. force: also try what failed before. Raises PolicyError when it must not be deployed.
    """
    rollouts.abandon_expired(group)
    gateways, wanted = in_order(group), watch.afresh(group) if cause == "schedule" else watch.current(group)
    due = [gateway for gateway in gateways if force or _is_due(gateway, wanted, channels, look=cause == "schedule")]
    if not due:
        rollouts.still_true(wanted)
        return None
    rollout = rollouts.open_rollout(group, wanted, gateways, by=by, cause=cause)
    if rollout is None or not rollouts.claim(rollout):
        return None
    _run(rollout, wanted, channels)
    if rollouts.finish(rollout):
        send("workers.reconcile")
    return rollout


def _is_due(gateway: Gateway, wanted: Wanted, channels: Channels, *, look: bool) -> bool:
    """Does the gateway run something else, and is there a point in trying now? What it refused is not tried again blindly.

    look: ask the gateway what it really runs, even if it should be right; somebody may have meddled with its kernel.
    """
    state = GatewayState.objects.filter(gateway=gateway).first()
    target = wanted.targets[gateway.pk]
    if state is None:
        return True
    if look or state.unreachable_since:
        runs = _runs(channels(gateway), wanted.snapshot.now)
        if runs is None or runs == target == state.digest:
            return False
        return runs != state.digest or not _was_refused(gateway, target)
    return state.digest != target and not _was_refused(gateway, target)


def _runs(channel: link.Channel, now: int) -> str | None:
    """The digest of what the gateway's kernel holds; None while it does not answer."""
    try:
        return carry.hello(channel, now).digest
    except (link.Unreachable, carry.NotDone):
        return None


def _was_refused(gateway: Gateway, target: str) -> bool:
    last = RolloutStep.objects.filter(gateway=gateway).order_by("-rollout_id").select_related("rollout__revision").first()
    if last is None or last.state != RolloutStep.State.FAILED or last.unreachable:
        return False
    return bool(last.rollout.revision.digests.get(gateway.name) == target)


def _run(rollout: Rollout, wanted: Wanted, channels: Channels) -> None:
    steps = list(rollout.steps.select_related("gateway", "rollout__revision"))
    orders = [_order(step.gateway, rollout, wanted) for step in steps]
    _describe(rollout, orders[0], channels(steps[0].gateway))
    for step, order in zip(steps, orders, strict=True):
        if not rollouts.renew(rollout):
            log.warning("lease lost", rollout=rollout.pk)
            return
        _carry(step, order, wanted, channels(step.gateway))


def _order(gateway: Gateway, rollout: Rollout, wanted: Wanted) -> carry.Order:
    pk, known = gateway.pk, memory.recall(gateway.pk)
    ruleset, change = wanted.rulesets[pk], wanted.deltas.get(pk)
    delta = change.delta if known and change and change.base is known.ruleset else diff(known.ruleset, ruleset) if known else None
    return carry.Order(ruleset, wanted.digests[pk], wanted.targets[pk], wanted.snapshot.now, rollout.token, known, delta)


def _carry(step: RolloutStep, order: carry.Order, wanted: Wanted, channel: link.Channel) -> None:
    rollouts.sending(step)

    def committed(applied: wire.Applied | None) -> None:
        times = (applied.commit_ms, applied.read_back_ms) if applied else (0, 0)
        rollouts.committed(step, octets=channel.sent, commit_ms=times[0], read_back_ms=times[1])

    try:
        welcome = carry.bring(channel, order, committed)
    except (link.Unreachable, carry.NotDone) as fault:
        log.warning("gateway not brought to revision", gateway=step.gateway.name, rollout=step.rollout_id, error=str(fault))
        rollouts.failed(step, str(fault), unreachable=isinstance(fault, link.Unreachable))
        return
    memory.remember(step.gateway.pk, order)
    rollouts.confirmed(step, wanted, in_memory=welcome.in_memory)


def _describe(rollout: Rollout, order: carry.Order, channel: link.Channel) -> None:
    """What changes, from what this process knows of the gateway, else from what the gateway says."""
    if not order.delta:  # nothing is known, or what is known is no longer so
        lines, text = planned(channel, order.ruleset, order.now)
    else:
        lines, text = summarise(order.delta, order.ruleset), render_delta(order.delta, now=order.now)
    rollouts.describe(rollout.revision, lines, text, order.ruleset.count_elements())


def planned(channel: link.Channel, ruleset: Ruleset, now: int) -> tuple[tuple[Line, ...], str]:
    """What the ruleset would change on the gateway, as its agent says: in numbers, and as nft text. Nothing, when it does not answer."""
    try:
        answer = carry.plan(channel, now, ruleset)
    except (link.Unreachable, carry.NotDone):
        return (), ""
    return summarise_counts(answer.added, answer.removed, ruleset), answer.text
