"""Reconciliation: bring the gateways of a group to their desired state.

Level-triggered and idempotent: any number of calls, by any caller, lead to the same outcome. A group has at most one open
rollout; the gateway that carries fewer address families goes first. `decisions` holds what people decide about rollouts.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet
from structlog.contextvars import bound_contextvars

from apps.accounts.models import User
from apps.deployments.approvals import approval_gate
from apps.deployments.desired_state import groups_on_hold
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_delta
from apps.deployments.desired_state.desired_state_cache import DesiredStateCache
from apps.deployments.models import DatabaseRestore, Hold, Revision, Rollout
from apps.deployments.observed_state import gateway_states
from apps.deployments.restored_database import comparison, restore_hold
from apps.deployments.revision_pages import contents, description
from apps.deployments.rollouts import go_live, lease_heartbeat, rollout_due, rollout_store
from apps.deployments.rollouts.gateway_cache import CachedRevision, RulesetCache
from apps.deployments.rollouts.gateway_order import list_in_rollout_order
from apps.deployments.rollouts.lease_heartbeat import Leases
from apps.deployments.rollouts.outdated_reads import OutdatedRevision, refuse_outdated_read
from apps.deployments.rollouts.rollout_driver import GatewayLinks, RolloutDriver, WorkerLinks, record_agent_progress, render_error
from apps.deployments.rollouts.rollout_store import Lease, NewRollout, RolloutLeaseLost, RolloutNotNeeded
from apps.deployments.transport import agent_channel, agent_client
from apps.deployments.transport.agent_client import DeployOrder, KnownRuleset
from apps.lib.database.compiled_query import compile_once
from apps.lib.enqueue import enqueue_task, send_task
from apps.lib.trace_links import leave_waiting_requests, link_waiting_requests
from apps.lib.trace_timing import add_facts, log_trace_point, trace_step
from apps.network.gateway_sentences import StepSentence
from apps.network.models import Gateway, GatewayGroup
from firewall import wire
from firewall.diff import Delta
from firewall.policy import PolicyError
from firewall.render import render_delta
from firewall.rollout import RolloutCommand
from firewall.ruleset import Ruleset
from firewall.summary import SummaryLine, summarize, summarize_counts

log = structlog.get_logger()
type DescribedChange = tuple[tuple[SummaryLine, ...], str]  # the change as counts, and as nft text

gateway_cache = RulesetCache()
desired_state_cache = DesiredStateCache()

NOTHING = render_delta(Delta(), now=0)  # the nft text of an empty delta, as an agent answers that lacks nothing


@dataclass(frozen=True, slots=True)
class DesiredDeployment:
    """Desired state of a group and its cause: what the database asks for, as far as approvals allow, or the revision that the
    group is held at.
    """

    wanted: DesiredState
    cause: str
    hold: Hold | None = None


@dataclass(frozen=True, slots=True)
class ReconciliationParameters:
    """Parameters of one reconciliation of one group. leases: keeps the lease of the rollout that it drives, from the claim on."""

    group: GatewayGroup
    links: GatewayLinks
    leases: Leases
    by: int | None
    force: bool
    at_the_kernel: bool


def request_reconcile(*, by: User, force: bool = False) -> None:
    """Ask a worker to reconcile now. force: also retry what a gateway refused or was unreachable for. Raises Problem if no group is
    live, or while a restore of the database holds the gateways back.
    """
    go_live.refuse_while_none_is_live()
    restore_hold.refuse_while_restored()
    enqueue_task("workers.reconcile", by.pk, force)


def reconcile(
    group: GatewayGroup, *, by: int | None = None, cause: str = "change", force: bool = False, links: GatewayLinks | None = None
) -> Rollout | None:
    """Bring the group's gateways to their desired state.

    Return None when there is nothing to do, another worker has the rollout, or the group is not live. After a restore of the database,
    only compare, until a person has agreed.

    by: id of the user who asked. force: also retry what failed before. Raises PolicyError when the policy must not be deployed.
    """
    if group.live_since is None:
        return None
    restore = restore_hold.find_last_restore()
    if restore and restore.agreed is None:
        compare_with_restored_database(group, restore, links or WorkerLinks())
        return None
    force = force or bool(restore and restore_hold.has_to_adopt_tokens(restore, group))
    if rollout_store.request_another_look(group):
        leave_waiting_requests()
        add_facts(outcome="left to the open rollout")
        return None
    links = links or WorkerLinks()
    log_trace_point("taken")
    with trace_step("reconcile", group=group.pk, cause=cause), lease_heartbeat.keep_leases() as leases:
        return _reconcile(ReconciliationParameters(group, links, leases, by=by, force=force, at_the_kernel=cause == "schedule"), cause)


def compare_with_restored_database(group: GatewayGroup, restore: DatabaseRestore, links: GatewayLinks) -> None:
    """Ask the group's gateways what a rollout would change, and store it. Nothing is changed on a gateway. Raises PolicyError,
    and what `refuse_outdated_read` does.
    """
    wanted = _compute_target(group, "schedule").wanted
    gateways = [each for each in list_in_rollout_order(group) if each.pk in wanted.targets]
    comparison.compare_gateways(restore, gateways, wanted, links)


def _reconcile(look: ReconciliationParameters, cause: str) -> Rollout | None:
    with trace_step("read and compile"):
        try:
            asked = _compute_target(look.group, cause)
        except PolicyError as error:
            _close_abandoned_rollout(look, error)
            raise
        except OutdatedRevision:
            leave_waiting_requests()
            add_facts(outcome="another worker has rolled out a newer read")
            return None
    with trace_step("open rollout"):
        lease = _take_over_rollout(look, asked) or _open_rollout(look, asked)
    if lease is None:
        add_facts(outcome="opened no rollout")
        return None
    with bound_contextvars(rollout=lease.rollout.pk):
        return _drive_rollout(look, asked, lease)


def _drive_rollout(look: ReconciliationParameters, asked: DesiredDeployment, lease: Lease) -> Rollout | None:
    """Bring the gateways to the rollout's revision, as far as they follow. Return None if another worker took it over."""
    group, links = look.group, look.links
    add_facts(rollout=lease.rollout.pk, revision=lease.rollout.revision_id, gateways=len(lease.steps))
    link_waiting_requests()
    orders = _build_orders(lease, asked.wanted)
    try:
        with trace_step("describe"):
            _describe_revision(lease, orders, links)
        with trace_step("keep contents"):
            _keep_contents(group, lease.rollout.revision, asked.wanted)
        RolloutDriver(lease, orders, links, lambda gateway, order: _remember_arrival(lease, gateway, order)).run()
    except RolloutLeaseLost as lost:
        log.warning("lease lost", rollout=lease.rollout.pk, error=str(lost))
        return None
    except (OperationalError, InterfaceError):
        raise  # the database is unreachable: the worker that finds the lease expired resumes the rollout
    except Exception as error:
        rollout_store.supersede_rollout(lease, StepSentence.WORKER_FAILED.write(error=render_error(error)))
        raise
    _keep_whole_content_if_due(lease.rollout.revision, asked.wanted)
    lease.rollout.refresh_from_db()
    add_facts(state=lease.rollout.state)
    log.info("rollout", group=group.name, revision=lease.rollout.revision_id, state=lease.rollout.state, gateways=len(lease.steps))
    if lease.rollout.again and lease.rollout.state not in Rollout.OPEN:
        send_task("workers.reconcile_group", group.pk)
    return lease.rollout


# --- Desired state


@compile_once
def _read_open_holds(group: int) -> QuerySet[Hold]:
    return Hold.objects.filter(group_id=group, released=None).select_related("revision")[:1]


def _compute_target(group: GatewayGroup, cause: str) -> DesiredDeployment:
    hold = next(iter(_read_open_holds(group.pk)), None)
    if hold:
        return DesiredDeployment(groups_on_hold.build_desired_state_on_hold(hold), "rollback", hold)
    wanted = desired_state_cache.recompute(group) if cause == "schedule" else desired_state_cache.get_current(group)
    running = gateway_cache.load_running_state(group)
    if running:  # beside a newer state, an older one would seem to remove what has been added meanwhile
        refuse_outdated_read(wanted.snapshot.seen, running.newest.revision.snapshot)
    return DesiredDeployment(approval_gate.hold_back_unapproved(group, wanted, running), cause)


# --- Claiming a rollout


def _take_over_rollout(look: ReconciliationParameters, asked: DesiredDeployment) -> Lease | None:
    """Take over an abandoned or resumed rollout, if its revision is still the desired state. Otherwise close it and return None."""
    group = look.group
    lease = rollout_store.claim_rollout(group)
    if lease is None or lease.command is RolloutCommand.FINISH:  # its worker died before it recorded the end
        return None
    look.leases.keep(lease.rollout)
    RolloutDriver(lease, {}, look.links, _reject_arrival).fence(asked.wanted.snapshot.now)
    if lease.rollout.revision.digests == _map_targets_by_name(group, asked.wanted):
        return lease
    rollout_store.supersede_rollout(lease, StepSentence.NEWER_STATE.write())
    return None


def _close_abandoned_rollout(look: ReconciliationParameters, error: PolicyError) -> None:
    """Close the group's abandoned or resumed rollout: nothing tells whether its revision is still wanted. It would block what the group
    needs to become deployable again.
    """
    lease = rollout_store.claim_rollout(look.group)
    if lease is None or lease.command is RolloutCommand.FINISH:
        return
    look.leases.keep(lease.rollout)
    RolloutDriver(lease, {}, look.links, _reject_arrival).fence(0)
    rollout_store.supersede_rollout(lease, StepSentence.NOT_DEPLOYABLE.write(error=str(error)))


def _reject_arrival(_gateway: Gateway, _order: DeployOrder) -> None:
    raise AssertionError("a rollout without orders cannot confirm anything")


def _map_targets_by_name(group: GatewayGroup, wanted: DesiredState) -> dict[str, str]:
    return {gateway.name: wanted.targets[gateway.pk] for gateway in group.gateways.all() if gateway.pk in wanted.targets}


def _open_rollout(look: ReconciliationParameters, asked: DesiredDeployment) -> Lease | None:
    wanted, hold = asked.wanted, asked.hold
    dues = rollout_due.DueCheck(look.group, wanted, look.links, at_the_kernel=look.at_the_kernel)
    gateways = tuple(
        sorted((each for each in list_in_rollout_order(look.group) if each.pk in wanted.targets), key=dues.is_desired_state_unconfirmed)
    )
    if look.force:
        _contact_gateways(gateways, look.links)
    elif not dues.list_worth_trying(gateways):
        gateway_states.record_newer_snapshots(wanted)
        return None
    opening = NewRollout(
        look.group,
        wanted,
        gateways,
        by=hold.by_id if hold else look.by,
        cause=asked.cause,
        harmless=_is_harmless(wanted),
        management=_map_management(asked, gateways),
        repeats=hold.revision if hold else None,
        repairs=look.force or dues.found_loss,
    )
    try:
        lease = rollout_store.open_rollout(opening)
    except RolloutNotNeeded:
        gateway_states.record_newer_snapshots(wanted)
        return None
    if lease:
        look.leases.keep(lease.rollout)
    else:  # another worker was faster
        leave_waiting_requests()
    return lease


def _map_management(asked: DesiredDeployment, gateways: Iterable[Gateway]) -> dict[str, Any]:
    """Return the management settings by the gateways' names of today: one may have been renamed since the held revision."""
    if asked.hold is None:
        return approval_gate.map_management_by_name(asked.wanted)
    settings = approval_gate.map_management_by_gateway(asked.hold.revision)
    return {each.name: settings[each.pk] for each in gateways if each.pk in settings}


def _contact_gateways(gateways: Iterable[Gateway], links: GatewayLinks) -> None:
    """Contact every gateway at once, without back-off, because a person requested it.

    A database that is older than the gateways (restored from a backup) adopts their fencing tokens.
    """
    for gateway in gateways:
        channel = links.get_channel(gateway)
        channel.reset_backoff()
        try:
            token = agent_client.send_hello(channel, 0).token
            if not rollout_store.raise_token_sequence(token):
                log.error("fencing token implausibly high, not adopted", gateway=gateway.name, token=token)
        except (agent_channel.Unreachable, agent_client.AgentRefused) as fault:
            log.info("gateway does not answer", gateway=gateway.name, error=str(fault))


def _is_harmless(wanted: DesiredState) -> bool:
    """True if only elements change, on every gateway. Such a change cannot lock anyone out."""
    for pk, ruleset in wanted.rulesets.items():
        known = gateway_cache.recall(pk)
        if known is None or compute_delta(known.ruleset, ruleset, wanted.deltas.get(pk)).touches_rules:
            return False
    return True


def _build_orders(lease: Lease, wanted: DesiredState) -> dict[int, DeployOrder]:
    return {step.gateway_id: _build_order(step.gateway, lease, wanted) for step in lease.steps}


def _build_order(gateway: Gateway, lease: Lease, wanted: DesiredState) -> DeployOrder:
    pk, known = gateway.pk, gateway_cache.recall(gateway.pk)
    ruleset = wanted.rulesets[pk]
    return DeployOrder(
        ruleset,
        wanted.digests[pk],
        wanted.targets[pk],
        wanted.snapshot.now,
        lease.rollout.token,
        lease.rollout.group.confirm_within,
        known,
        compute_delta(known.ruleset, ruleset, wanted.deltas.get(pk)) if known else None,
    )


def _remember_arrival(lease: Lease, gateway: Gateway, order: DeployOrder) -> None:
    gateway_cache.remember(gateway.pk, KnownRuleset(lease.rollout.revision_id, order.digest, order.ruleset))


# --- Revision contents


def _describe_revision(lease: Lease, orders: Mapping[int, DeployOrder], links: GatewayLinks) -> None:
    """Describe the revision by its change on the first gateway that lacks something.

    The description stays empty if no gateway is known to lack anything and one did not answer.
    """
    revision = lease.rollout.revision
    if revision.delta:
        return
    silent = False
    for step in lease.steps:
        order = orders[step.gateway_id]
        found = _find_missing_change(lease, step.gateway, order, links)
        silent |= found is None
        if found and found[1] != NOTHING:
            description.store_change_description(revision, *found, order.ruleset.count_elements())
            return
    description.store_change_description(
        revision, (), "" if silent else NOTHING, orders[lease.steps[0].gateway_id].ruleset.count_elements()
    )


def _find_missing_change(lease: Lease, gateway: Gateway, order: DeployOrder, links: GatewayLinks) -> DescribedChange | None:
    """Return what the gateway lacks: from this process's cache, else from its agent. None when the agent does not answer."""
    if order.delta:
        return summarize(order.delta, order.ruleset), render_delta(order.delta, now=order.now)
    channel = links.get_channel(gateway)
    if _runs_order(channel, order):  # to compare it element by element takes seconds for a large network
        return (), NOTHING
    return plan_change(channel, order.ruleset, order.now, lambda beat: _record_beat(lease, beat))


def _runs_order(channel: agent_channel.AgentChannel, order: DeployOrder) -> bool:
    """True if the gateway says that it runs and has confirmed exactly what it should."""
    try:
        return agent_client.is_running(agent_client.send_hello(channel, order.now), order.target)
    except (agent_channel.Unreachable, agent_client.AgentRefused):
        return False


def _record_beat(lease: Lease, beat: wire.Beat) -> None:
    record_agent_progress(lease, beat)


def plan_change(
    channel: agent_channel.AgentChannel, ruleset: Ruleset, now: int, heard: agent_channel.BeatHandler = agent_channel.ignore_beat
) -> DescribedChange | None:
    """Ask the gateway's agent what the ruleset would change there. Return None when it does not answer."""
    try:
        answer = agent_client.plan_on_gateway(channel, now, ruleset, heard)
    except (agent_channel.Unreachable, agent_client.AgentRefused):
        return None
    return summarize_counts(answer.added, answer.removed, ruleset, settings=answer.settings), answer.text


def _keep_contents(group: GatewayGroup, revision: Revision, wanted: DesiredState) -> None:
    """Store what the revision's gateways will run, before any of them gets it: what one has confirmed can always be read.

    It is stored as a delta from the previous stored revision, or whole if this process does not know that one.
    """
    if contents.is_content_stored(revision):
        return
    names = _map_names_by_gateway(revision, wanted)
    base = Revision.objects.filter(Q(group=group) & Q(pk__lt=revision.pk)).exclude(content=None).order_by("-pk").first()
    before = _recall_stored_rulesets(group, base, names) if base and base.gateways == revision.gateways else {}
    if base and names.keys() <= before.keys():
        ways = {name: compute_delta(before[pk], wanted.rulesets[pk], wanted.deltas.get(pk)) for pk, name in names.items()}
        contents.store_delta(revision, base, ways)
    else:
        contents.store_whole_content(revision, {name: wanted.rulesets[pk] for pk, name in names.items()})
    gateway_cache.keep(group.pk, CachedRevision(revision.pk, wanted.rulesets))


def _map_names_by_gateway(revision: Revision, wanted: DesiredState) -> dict[int, str]:
    """Return the gateways' names when the revision was made: one of them may have been retired or renamed since."""
    return {pk: name for name, pk in revision.gateways.items() if pk in wanted.rulesets}


def _recall_stored_rulesets(group: GatewayGroup, stored: Revision, gateways: Iterable[int]) -> Mapping[int, Ruleset]:
    """Return the stored revision's rulesets by gateway id, as far as this process knows them."""
    kept = gateway_cache.find_cached_revision(group.pk)
    if kept and kept.revision == stored.pk:
        return kept.rulesets
    known = {pk: gateway_cache.recall(pk) for pk in gateways}
    return {pk: each.ruleset for pk, each in known.items() if each and each.revision == stored.pk}


def _keep_whole_content_if_due(revision: Revision, wanted: DesiredState) -> None:
    """Store the revision whole now and then, after it is on its gateways: for a large network this takes seconds."""
    if contents.is_whole_due(revision):
        names = _map_names_by_gateway(revision, wanted)
        contents.store_whole_content(revision, {name: wanted.rulesets[pk] for pk, name in names.items()})
