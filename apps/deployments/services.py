"""Close the difference between what the database asks for and what the gateways run.

Level-triggered: whoever calls, however often, the outcome is the same. One rollout per group is open at a time; the gateway
that carries fewer address families goes first. What people decide about rollouts is in `decisions`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import structlog
from django.db import InterfaceError, OperationalError
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.approvals import approval_gate
from apps.deployments.desired_state import held_groups
from apps.deployments.desired_state.desired_rulesets import Wanted, way
from apps.deployments.desired_state.desired_state_cache import Watch
from apps.deployments.models import Hold, Revision, Rollout
from apps.deployments.observed_state import gateway_states
from apps.deployments.revision_pages import contents, description
from apps.deployments.rollouts import lease_heartbeat, rollout_due, rollout_store
from apps.deployments.rollouts.gateway_cache import Kept, Memory
from apps.deployments.rollouts.lease_heartbeat import Leases
from apps.deployments.rollouts.rollout_driver import Driver, Links, WorkerLinks, note_beat, plain
from apps.deployments.rollouts.rollout_store import Lease, LeaseLost, Opening
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_client import Known, Order
from apps.lib.enqueue import nudge, send
from apps.lib.trace_timing import moment
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from firewall.diff import Delta
from firewall.render import render_delta
from firewall.rollout import Command
from firewall.ruleset import Ruleset
from firewall.summary import Line, summarise, summarise_counts

log = structlog.get_logger()
type Change = tuple[tuple[Line, ...], str]  # in numbers, and as nft text

memory = Memory()
watch = Watch()

NOTHING = render_delta(Delta(), now=0)  # as nft text: what an agent says that lacks nothing


@dataclass(frozen=True, slots=True)
class Asked:
    """What the gateways shall run, and why: what the database asks for, as far as it may go out; or the revision the group is held at."""

    wanted: Wanted
    cause: str
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class GroupLook:
    """One look at one group. leases: where the rollout that it drives is kept from its claim on."""

    group: GatewayGroup
    links: Links
    leases: Leases
    by: int | None
    force: bool
    at_the_kernel: bool


def in_order(group: GatewayGroup) -> list[Gateway]:
    """The group's gateways in the order of a rollout: whoever carries less goes first."""
    return sorted(group.gateways.all(), key=lambda gateway: (gateway.carries4 + gateway.carries6, gateway.name))


def request(*, by: User, force: bool = False) -> None:
    """Ask a worker to look now. force: also try again what a gateway refused or was not there for."""
    nudge("workers.reconcile", by.pk, force)


def reconcile(
    group: GatewayGroup, *, by: int | None = None, cause: str = "change", force: bool = False, links: Links | None = None
) -> Rollout | None:
    """Bring the group's gateways to what is asked for now. None when there is nothing to do, or another is at it.

    by: id of the user who asked. force: also try what failed before. Raises PolicyError when it must not be deployed.
    """
    if rollout_store.leave_note(group):
        return None
    links = links or WorkerLinks()
    moment("taken")
    with lease_heartbeat.heartbeat() as leases:
        return _reconcile(GroupLook(group, links, leases, by=by, force=force, at_the_kernel=cause == "schedule"), cause)


def _reconcile(look: GroupLook, cause: str) -> Rollout | None:
    group, links = look.group, look.links
    asked = _asked(group, cause)
    moment("read and compiled")
    lease = _taken_over(look, asked) or _opened(look, asked)
    if lease is None:
        return None
    moment("rollout opened")
    orders = _orders(lease, asked.wanted)
    try:
        _describe(lease, orders, links)
        moment("described")
        Driver(lease, orders, links, lambda gateway, order: _arrived(lease, gateway, order)).run()
    except LeaseLost as lost:
        log.warning("lease lost", rollout=lease.rollout.pk, error=str(lost))
        return None
    except (OperationalError, InterfaceError):
        raise  # the database is away; whoever finds the lease run out goes on
    except Exception as error:
        rollout_store.supersede(lease, _("The worker failed: %(error)s") % {"error": plain(error)})
        raise
    _keep(group, lease.rollout.revision, asked.wanted)
    moment("kept")
    lease.rollout.refresh_from_db()
    if lease.rollout.again and lease.rollout.state not in Rollout.OPEN:
        send("workers.reconcile", None, False, "change")
    return lease.rollout


# --- What is asked for


def _asked(group: GatewayGroup, cause: str) -> Asked:
    hold = Hold.objects.filter(group=group, released=None).select_related("revision").first()
    if hold:
        return Asked(held_groups.wanted(group, hold), "rollback", hold)
    wanted = watch.afresh(group) if cause == "schedule" else watch.current(group)
    return Asked(approval_gate.through(group, wanted, memory.before(group)), cause)


# --- Whose rollout


def _taken_over(look: GroupLook, asked: Asked) -> Lease | None:
    """A rollout whose worker is gone, or that somebody resumed, goes on, if it is still what is asked for; else it is closed."""
    group = look.group
    lease = rollout_store.claim(group)
    if lease is None or lease.command is Command.FINISH:  # its worker was gone before it wrote that it was done
        return None
    look.leases.keep(lease.rollout)
    Driver(lease, {}, look.links, _nothing_arrived).fence(asked.wanted.snapshot.now)
    if lease.rollout.revision.digests == _named(group, asked.wanted):
        return lease
    rollout_store.supersede(lease, _("Something else is asked for by now; what was missing goes out with the next rollout."))
    return None


def _nothing_arrived(_gateway: Gateway, _order: Order) -> None:
    raise AssertionError("a rollout without orders brings nothing anywhere")


def _named(group: GatewayGroup, wanted: Wanted) -> dict[str, str]:
    return {gateway.name: wanted.targets[gateway.pk] for gateway in group.gateways.all() if gateway.pk in wanted.targets}


def _opened(look: GroupLook, asked: Asked) -> Lease | None:
    wanted, hold = asked.wanted, asked.hold
    dues = rollout_due.Look(look.group, wanted, look.links, at_the_kernel=look.at_the_kernel)
    gateways = tuple(sorted((each for each in in_order(look.group) if each.pk in wanted.targets), key=dues.is_new_to))
    if look.force:
        _begin_anew(gateways, look.links)
    elif not [gateway for gateway in gateways if dues.is_due(gateway)]:
        gateway_states.still_true(wanted)
        return None
    lease = rollout_store.open_rollout(
        Opening(
            look.group,
            wanted,
            gateways,
            by=hold.by_id if hold else look.by,
            cause=asked.cause,
            harmless=_is_harmless(wanted),
            management=hold.revision.management if hold else approval_gate.managements(wanted),
            again=hold.revision if hold else None,
        )
    )
    if lease:
        look.leases.keep(lease.rollout)
    return lease


def _begin_anew(gateways: Iterable[Gateway], links: Links) -> None:
    """A person wants it: whoever has been away is asked at once, and a database older than the gateways catches up with them."""
    for gateway in gateways:
        channel = links.kept(gateway)
        channel.try_now()
        try:
            token = agent_client.hello(channel, 0).token
            if not rollout_store.outrun(token):
                log.error("not adopted: a token that nobody can have counted to", gateway=gateway.name, token=token)
        except (agent_channel.Unreachable, agent_client.NotDone) as fault:
            log.info("does not answer", gateway=gateway.name, error=str(fault))


def _is_harmless(wanted: Wanted) -> bool:
    """Does nothing but elements change, on every gateway? Then no change can lock anybody out."""
    for pk, ruleset in wanted.rulesets.items():
        known = memory.recall(pk)
        if known is None or way(known.ruleset, ruleset, wanted.deltas.get(pk)).touches_rules:
            return False
    return True


def _orders(lease: Lease, wanted: Wanted) -> dict[int, Order]:
    return {step.gateway_id: _order(step.gateway, lease, wanted) for step in lease.steps}


def _order(gateway: Gateway, lease: Lease, wanted: Wanted) -> Order:
    pk, known = gateway.pk, memory.recall(gateway.pk)
    ruleset = wanted.rulesets[pk]
    return Order(
        ruleset,
        wanted.digests[pk],
        wanted.targets[pk],
        wanted.snapshot.now,
        lease.rollout.token,
        lease.rollout.group.confirm_within,
        known,
        way(known.ruleset, ruleset, wanted.deltas.get(pk)) if known else None,
    )


def _arrived(lease: Lease, gateway: Gateway, order: Order) -> None:
    memory.remember(gateway.pk, Known(lease.rollout.revision_id, order.digest, order.ruleset))


# --- What is kept of it


def _describe(lease: Lease, orders: Mapping[int, Order], links: Links) -> None:
    """What changes on the first gateway that lacks something. Left empty where none is known to, and one did not answer."""
    revision = lease.rollout.revision
    if revision.delta:
        return
    silent = False
    for step in lease.steps:
        order = orders[step.gateway_id]
        found = _lacks(lease, step.gateway, order, links)
        silent |= found is None
        if found and found[1] != NOTHING:
            description.describe(revision, *found, order.ruleset.count_elements())
            return
    description.describe(revision, (), "" if silent else NOTHING, orders[lease.steps[0].gateway_id].ruleset.count_elements())


def _lacks(lease: Lease, gateway: Gateway, order: Order, links: Links) -> Change | None:
    """What the gateway lacks: from what this process knows of it, else as its agent says; None when that does not answer."""
    if order.delta:
        return summarise(order.delta, order.ruleset), render_delta(order.delta, now=order.now)
    return planned(links.kept(gateway), order.ruleset, order.now, lambda beat: _noted(lease, beat))


def _noted(lease: Lease, beat: wire.Beat) -> None:
    note_beat(lease, beat)


def planned(
    channel: agent_channel.Channel, ruleset: Ruleset, now: int, heard: agent_channel.Heard = agent_channel.nobody_minds
) -> Change | None:
    """What the ruleset would change on the gateway, as its agent says. None when it does not answer."""
    try:
        answer = agent_client.plan(channel, now, ruleset, heard)
    except (agent_channel.Unreachable, agent_client.NotDone):
        return None
    return summarise_counts(answer.added, answer.removed, ruleset, settings=answer.settings), answer.text


def _keep(group: GatewayGroup, revision: Revision, wanted: Wanted) -> None:
    """Keep what the revision's gateways run, as the way from the one before it, now and then whole."""
    if contents.is_kept(revision):
        return
    names = {gateway.pk: gateway.name for gateway in group.gateways.all()}
    rulesets = {names[pk]: ruleset for pk, ruleset in wanted.rulesets.items()}
    last = memory.kept(group.pk)
    base = Revision.objects.filter(Q(group=group) & Q(pk__lt=revision.pk)).exclude(content=None).order_by("-pk").first()
    if last and base and base.pk == last.revision and last.rulesets.keys() == wanted.rulesets.keys() and not contents.whole_is_due(base):
        ways = {names[pk]: way(last.rulesets[pk], ruleset, wanted.deltas.get(pk)) for pk, ruleset in wanted.rulesets.items()}
        contents.keep_way(revision, base, ways)
    else:
        contents.keep_whole(revision, rulesets)
    memory.keep(group.pk, Kept(revision.pk, wanted.rulesets))
