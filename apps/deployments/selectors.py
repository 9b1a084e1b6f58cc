"""Queries about rollouts, approvals, holds and what the gateways run, and since when a given row is active on them."""

from collections.abc import Mapping, Sequence

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from apps.deployments.models import GatewayState, HeldBack, Hold, Rollout, RolloutStep
from apps.deployments.observed_state.gateway_standings import load_standings
from apps.deployments.observed_state.pending_reasons import add_pending_reasons
from apps.lib.activation import Activation
from apps.lib.models import Deployed
from apps.lib.web.frame_reads import read_with_frame
from apps.network.models import GatewayGroup


def list_activations(rows: Sequence[Deployed]) -> list[list[Activation]]:
    """Return for each row its activation on each gateway: on those of the row's group, or on all for a row without a group (a ban).

    One query for times and gateways, and another one for the deploy worker if something is pending.
    """
    if not rows:
        return []
    found: list[list[Activation]] = [[] for _row in rows]
    standings = load_standings(rows)
    for gateway in standings:
        for number, since in gateway.iter_rows():
            found[number].append(Activation(gateway.name, since))
    return add_pending_reasons(rows, found, standings)


def list_rollouts() -> QuerySet[Rollout]:
    """Return all rollouts, newest first, with the relations that table rows show."""
    return Rollout.objects.select_related("revision__by", "group", "stopped_by").prefetch_related("steps__gateway").order_by("-id")


def list_rollouts_in_state(state: str) -> QuerySet[Rollout]:
    """Return rollouts for a list, without the long text of their deltas: all of them, or the `open`, `confirmed` or `failed` ones."""
    wanted = {"open": Q(state__in=Rollout.OPEN), "confirmed": Q(state="confirmed"), "failed": Q(state="failed")}.get(state, Q())
    return list_rollouts().filter(wanted).annotate(described=~Q(revision__delta="")).defer("revision__delta")


def count_rollouts() -> dict[str, int]:
    """Return the number of rollouts: in all, open, confirmed and failed."""
    found = dict(Rollout.objects.order_by().values_list("state").annotate(Count("pk")))
    shown = {str(state): found.get(state, 0) for state in (Rollout.State.CONFIRMED, Rollout.State.FAILED)}
    return {"all": sum(found.values()), "open": sum(found.get(state, 0) for state in Rollout.OPEN), **shown}


def list_newest_per_group() -> QuerySet[Rollout]:
    """Return each group's latest rollout; `lost_packets` is true if a gateway confirmed it although a probe failed.

    The latest is looked up group by group: DISTINCT ON would read all rollouts of all years.
    """
    lost = Q(evidence__contains=[{"what": "IPv4", "passed": False}]) | Q(evidence__contains=[{"what": "IPv6", "passed": False}])
    steps = RolloutStep.objects.filter(lost, rollout=OuterRef("pk"), state=RolloutStep.State.CONFIRMED)
    last = Rollout.objects.filter(group=OuterRef("pk")).order_by("-id").values("pk")[:1]
    newest = Rollout.objects.filter(pk__in=GatewayGroup.objects.values_list(Subquery(last)))
    shown = newest.select_related("revision", "stopped_by").defer("revision__delta").annotate(lost_packets=Exists(steps))
    return shown.order_by("group_id")


@read_with_frame
def _list_cached_newest() -> QuerySet[Rollout]:
    return list_newest_per_group()


def map_newest_rollouts() -> Mapping[int, Rollout]:
    """Return each group's latest rollout by the group's id."""
    return {rollout.group_id: rollout for rollout in _list_cached_newest()}


def find_newer_rollout(rollout: Rollout) -> Rollout | None:
    """Return the group's latest rollout, if it is newer than this one."""
    later = Rollout.objects.filter(group=rollout.group_id, pk__gt=rollout.pk)
    return later.order_by("-id").select_related("revision").defer("revision__delta").first()


def find_previous_rollout(rollout: Rollout) -> Rollout | None:
    """Return the group's rollout before this one."""
    earlier = Rollout.objects.filter(group=rollout.group_id, pk__lt=rollout.pk)
    return earlier.order_by("-id").select_related("revision").defer("revision__delta").first()


def find_previous_confirmed_rollout(rollout: Rollout) -> Rollout | None:
    """Return the group's latest rollout before this one that every gateway confirmed."""
    earlier = Rollout.objects.filter(group=rollout.group_id, pk__lt=rollout.pk, state=Rollout.State.CONFIRMED)
    return earlier.order_by("-id").select_related("revision").defer("revision__delta").first()


def map_states_by_gateway(rollout: Rollout) -> dict[str, GatewayState]:
    """Return what the gateways of the rollout's group run, by gateway name."""
    return {state.gateway.name: state for state in list_gateway_states().filter(gateway__group=rollout.group_id)}


def list_gateway_states() -> QuerySet[GatewayState]:
    """Return what each gateway in service runs, ordered by gateway name."""
    return GatewayState.objects.filter(gateway__retired=None).select_related("gateway__group", "revision").order_by("gateway__name")


@read_with_frame
def list_cached_gateway_states() -> QuerySet[GatewayState]:
    """Return the same, read once for a page, without the long text of revisions."""
    return list_gateway_states().defer("revision__delta")


def list_held_back_parts() -> QuerySet[HeldBack]:
    """Return all held-back parts, newest first, without their elements and their long text."""
    return HeldBack.objects.select_related("group", "decided_by").prefetch_related("askers").defer("packed", "text").order_by("-id")


def list_parts_awaiting_approval() -> QuerySet[HeldBack]:
    """Return the held-back parts that wait for a second person, oldest first."""
    return list_held_back_parts().filter(state=HeldBack.State.WAITING).order_by("id")


@read_with_frame
def list_cached_waiting_parts() -> QuerySet[HeldBack]:
    """Return the same, read once for a page."""
    return list_parts_awaiting_approval()


def list_revision_holds() -> QuerySet[Hold]:
    """Return the active holds: groups that are kept at an older revision."""
    return Hold.objects.filter(released=None).select_related("group", "revision", "by").defer("revision__delta").order_by("group__name")


@read_with_frame
def _list_cached_holds() -> QuerySet[Hold]:
    return list_revision_holds()


def map_revision_holds_by_group() -> Mapping[int, Hold]:
    """Return the active holds by the group's id."""
    return {hold.group_id: hold for hold in _list_cached_holds()}
