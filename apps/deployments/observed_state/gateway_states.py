"""Writes the state of each gateway: when it confirms, when a rollout fails on it, and when nothing had to be deployed.

Also reads what a group has confirmed, which its gateways' states forget with their machines.
"""

from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import BooleanField, Case, F, Q, QuerySet, TextField, Value, When
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.utils import timezone

from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.models import GatewayState, Revision, RolloutStep
from apps.deployments.observed_state import drift
from apps.network.models import Gateway, GatewayGroup

UP_TO = "snapshot IS NULL OR pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(%s::pg_snapshot)"  # reads that began no later than this one


def record_running(step: RolloutStep, revision: Revision, digest: str, *, in_memory: bool) -> None:
    """Record that the gateway runs the revision and has confirmed it."""
    state, _created = GatewayState.objects.get_or_create(gateway=step.gateway)
    GatewayState.objects.filter(pk=state.pk).update(
        digest=digest,
        revision=revision,
        snapshot=revision.snapshot,
        since=Now(),
        seen=Now(),
        in_memory=in_memory,
        unreachable_since=None,
        error="",
        disk="",
        drift=None,
        drift_since=None,
        drifted_before=drift.build_drift_history(state, timezone.now()),
    )


def record_rollout_failure(gateway: Gateway, text: str, *, away: bool) -> None:
    """Record that a rollout failed on the gateway; what it runs has not changed. away: it did not answer."""
    state, _created = GatewayState.objects.get_or_create(gateway=gateway)
    mine = GatewayState.objects.filter(pk=state.pk)
    if not away:
        mine.update(error=text, seen=Now(), unreachable_since=None)
        return
    mine.filter(unreachable_since=None).update(unreachable_since=Now())
    mine.update(error=text)


def record_silence(gateway: Gateway, text: str) -> None:
    """Record that the gateway did not answer, unless that is known. text: why."""
    GatewayState.objects.filter(gateway=gateway, unreachable_since=None).update(unreachable_since=Now(), error=text)


def record_first_answer(gateway: Gateway, at: datetime) -> None:
    """Record that the agent of a gateway that was just added has answered at this time."""
    GatewayState.objects.update_or_create(gateway=gateway, defaults={"seen": at})


def list_confirmed_revisions(group: int) -> QuerySet[Revision]:
    """Return the revisions that a gateway of the group has confirmed, even one that is not there any more; newest first."""
    return Revision.objects.filter(group=group, rollouts__steps__confirmed__isnull=False).order_by("-pk")


def has_ever_answered(gateway: Gateway) -> bool:
    """True if the gateway's agent has ever answered. Queries nothing if the row was read with its `status`."""
    status: GatewayState | None = getattr(gateway, "status", None)
    return status is not None and status.seen is not None


def forget_machine(gateway: Gateway) -> None:
    """Forget what the gateway's machine ran: another machine takes its place."""
    GatewayState.objects.filter(gateway=gateway).update(
        digest="",
        revision=None,
        snapshot=None,
        since=None,
        in_memory=False,
        seen=None,
        unreachable_since=None,
        error="",
        disk="",
        unshaped="",
        agent="",
        drift=None,
        drift_since=None,
        kernel=None,
    )


def record_newer_snapshots(wanted: DesiredState) -> None:
    """Record a newer snapshot for gateways that already run the desired state, unless theirs is newer. Why one does not answer stays."""
    running = [Q(gateway=pk, digest=target) for pk, target in wanted.targets.items()]
    if running:
        error = Case(When(unreachable_since=None, then=Value("")), default=F("error"), output_field=TextField())
        older = RawSQL(UP_TO, (wanted.snapshot.seen,), output_field=BooleanField())  # noqa: S611 - fixed text
        GatewayState.objects.filter(older, reduce(or_, running)).update(snapshot=wanted.snapshot.seen, error=error)


def record_undeployable_policy(group: GatewayGroup, text: str) -> None:
    """Record why the policy must not be deployed. The gateways keep what they run, and their pages show the reason."""
    GatewayState.objects.filter(gateway__group=group).update(error=text)
