"""Status for each page's frame: what the gateways run, for the top bar, and a count of what needs attention, for the navigation."""

from collections import defaultdict

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState, Hold, Rollout, RolloutStep
from apps.deployments.restored_database.restore_hold import find_open_restore
from apps.deployments.selectors import (
    list_cached_gateway_states,
    list_cached_waiting_parts,
    map_newest_rollouts,
    map_revision_holds_by_group,
)
from apps.lib.ui.states import StateKind
from apps.lib.web.context_processors import RunningRevision
from apps.lib.web.navigation import NavigationCount

_WORST = (StateKind.BAD, StateKind.WAIT, StateKind.WARN, StateKind.MOVING, StateKind.OK)


def build_navigation_count(_request: HttpRequest) -> NavigationCount | None:
    """Count groups with a failed last rollout, held-back parts, and rollouts under way. Only the first two are marked as asking
    for attention.
    """
    states = [rollout.state for rollout in map_newest_rollouts().values()]
    asks = states.count(Rollout.State.FAILED) + len(list_cached_waiting_parts())
    return NavigationCount(asks + sum(state in Rollout.OPEN for state in states), asks=asks > 0)


def summarize_worst_group(_request: HttpRequest) -> RunningRevision | None:
    """Summarise the group with the worst state. None while no gateway has ever answered."""
    groups: dict[int, list[GatewayState]] = defaultdict(list)
    for state in list_cached_gateway_states():
        groups[state.gateway.group_id].append(state)
    newest, held = map_newest_rollouts(), map_revision_holds_by_group()
    said = [_summarize_group(states, newest.get(group), held.get(group)) for group, states in groups.items()]
    return min(said, key=lambda running: _WORST.index(running.kind), default=None)


def _summarize_group(states: list[GatewayState], last: Rollout | None, hold: Hold | None) -> RunningRevision:
    if last and last.state in Rollout.OPEN:
        return RunningRevision(StateKind.MOVING, str(last), _render_moving(last), reverse("deployments:rollout", args=[last.pk]))
    revision = max((state.revision for state in states if state.revision), key=lambda each: each.pk, default=None)
    group = states[0].gateway.group
    if revision is None and group.live_since is None:
        return RunningRevision(StateKind.WAIT, _("not live"), _("nothing is deployed yet"), reverse("deployments:plan", args=[group.pk]))
    if revision is None:
        return _summarize_without_revision()
    on = [state for state in states if state.revision == revision]
    away = [state.gateway.name for state in states if state.unreachable_since]
    words = ", ".join(
        filter(
            None,
            [_render_revision_hold(hold) or render_where_running(on, states), _render_away(away), "" if hold else _render_memory(states)],
        )
    )
    kind = StateKind.BAD if away else StateKind.WAIT if hold else StateKind.WARN if len(on) < len(states) else StateKind.OK
    return RunningRevision(kind, str(revision), words, reverse("gateways:list"))


def _render_revision_hold(hold: Hold | None) -> str:
    return _("on hold at %(revision)s") % {"revision": hold.revision} if hold else ""


def _summarize_without_revision() -> RunningRevision:
    if find_open_restore():
        return RunningRevision(StateKind.WAIT, _("restored"), _("what the gateways run is not known"), reverse("deployments:restored"))
    return RunningRevision(StateKind.WARN, _("no revision"), _("on the gateways yet"), reverse("gateways:list"))


def render_where_running(on: list[GatewayState], of: list[GatewayState]) -> str:
    """Return “on both gateways”, “on all 3 gateways” or “on nat-2 only”."""
    if len(on) == len(of) == 2:
        return _("on both gateways")
    if len(on) == len(of) > 2:
        return _("on all %(n)d gateways") % {"n": len(of)}
    names = ", ".join(state.gateway.name for state in on)
    return _("on %(gateways)s") % {"gateways": names} if len(on) == len(of) else _("on %(gateways)s only") % {"gateways": names}


def _render_moving(rollout: Rollout) -> str:
    if rollout.state == Rollout.State.QUEUED:
        return _("waits for a worker")
    step = rollout.steps.filter(state__in=RolloutStep.MOVING).select_related("gateway").first()
    if step is None:
        return _("under way")
    words = _("confirming on %(gateway)s") if step.committed else _("applying on %(gateway)s")
    return words % {"gateway": step.gateway.name}


def _render_away(names: list[str]) -> str:
    return _("%(gateways)s does not answer") % {"gateways": ", ".join(names)} if names else ""


def _render_memory(states: list[GatewayState]) -> str:
    return _("in memory only, no packets") if any(state.in_memory for state in states) else ""
