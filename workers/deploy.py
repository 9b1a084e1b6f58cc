"""Tasks that bring gateways to their desired state. The work is in `apps.deployments.services`."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext

import structlog
from celery import current_app, shared_task

from apps.deployments import services
from apps.deployments.desired_state import expiry
from apps.deployments.observed_state import gateway_states
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.outdated_reads import TransactionsOfAnotherServerError
from apps.lib import trace_links, trace_timing
from apps.lib.enqueue import RECONCILE_GROUP
from apps.network.models import GatewayGroup
from apps.operations import jobs
from firewall.policy import PolicyError

log = structlog.get_logger()


@shared_task(name="workers.reconcile")
def reconcile(by: int | None = None, force: bool = False, cause: str = "") -> None:
    """Reconcile every group. by: the account named in the revision. force: also retry what failed before."""
    with trace_links.find_waiting_requests() as waiting, _trace_if_asked(bool(waiting)):
        _reconcile_each(GatewayGroup.objects.all(), by=by, cause=cause or ("change" if by else "schedule"), force=force)
    jobs.forget_failure(RECONCILE_GROUP)  # its group is reconciled now, and the next task of its kind may be days away


@shared_task(name=RECONCILE_GROUP)
def reconcile_group(group: int, by: int | None = None) -> None:
    """Reconcile one group because of a change that concerns no other. A task of its own, so that its success does not hide that another
    group fails. by: the account named in the revision.
    """
    with trace_links.find_waiting_requests(group) as waiting, _trace_if_asked(bool(waiting)):
        _reconcile_each(GatewayGroup.objects.filter(pk=group), by=by, cause="change", force=False)


def _trace_if_asked(waiting: bool) -> AbstractContextManager[None]:
    """Trace the task if a traced request waits for it: the one that sent it, or one whose own task was lost."""
    traceparent = read_traceparent()
    return trace_timing.trace_task("workers.reconcile", traceparent) if traceparent or waiting else nullcontext()


def read_traceparent() -> str:
    """Return the W3C traceparent of the current task's message; "" if it has none."""
    task = current_app.current_task
    return str(task.request.get("traceparent") or "") if task else ""


@shared_task(name="workers.take_over")
def take_over() -> None:
    """Resume rollouts of lost workers, and remove what has just ended from the gateways, sooner than the next full reconciliation."""
    groups = {group.pk: group for group in (*rollout_store.list_abandoned_groups(), *expiry.list_groups_with_recent_expiry())}
    _reconcile_each(groups.values(), by=None, cause="change", force=False)


def _reconcile_each(groups: Iterable[GatewayGroup], *, by: int | None, cause: str, force: bool) -> None:
    """Reconcile one group after the other; errors are raised together after the last."""
    faults: list[Exception] = []
    for group in groups:
        try:
            _reconcile(group, by=by, cause=cause, force=force)
        except Exception as fault:
            log.exception("group not reconciled", group=group.name)
            faults.append(fault)
    if faults:
        raise ExceptionGroup(f"{len(faults)} groups could not be reconciled", faults)


def _reconcile(group: GatewayGroup, *, by: int | None, cause: str, force: bool) -> None:
    try:
        services.reconcile(group, by=by, cause=cause, force=force)
    except (PolicyError, TransactionsOfAnotherServerError) as error:
        log.error("group not deployable", group=group.name, error=str(error))
        gateway_states.record_undeployable_policy(group, str(error))
