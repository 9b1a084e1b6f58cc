"""Needs that follow from rollouts: those that failed or lost packets, those that wait for an approval, and revisions that are held."""

from collections.abc import Iterable, Iterator

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.deployments.approvals.texts import render_reason
from apps.deployments.approvals.texts import render_title as title_of_held
from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.rollouts import evidence
from apps.deployments.selectors import list_cached_waiting_parts, map_revision_holds_by_group
from apps.desk.needs.need import AttentionItem, get_first_line
from apps.lib.ui.states import StateKind, StateLabel
from apps.network.gateway_sentences import translate_rollout_error


def iter_rollout_needs(newest: Iterable[Rollout]) -> Iterator[AttentionItem]:
    """Yield those of the groups' newest rollouts that failed, were stopped, or lost probe packets."""
    for rollout in newest:
        if rollout.state in (Rollout.State.FAILED, Rollout.State.ABORTED):
            yield AttentionItem(
                f"rollout-{rollout.pk}",
                StateLabel(StateKind.BAD, _("Failed") if rollout.state == Rollout.State.FAILED else _("Stopped")),
                _("%(revision)s did not reach every gateway") % {"revision": rollout},
                get_first_line(translate_rollout_error(rollout.error)),
                rollout.finished,
                _("Open"),
                resolve_url("deployments:rollout", rollout.pk),
                gateways=frozenset(rollout.steps.filter(state__in=RolloutStep.BAD).values_list("gateway", flat=True)),
            )
        elif getattr(rollout, "lost_packets", False) and (
            lost := evidence.describe_all_lost_packets(steps := list(rollout.steps.select_related("gateway")))
        ):
            what = _("A probe failed after %(revision)s") % {"revision": rollout}
            page = resolve_url("deployments:rollout", rollout.pk)
            yield AttentionItem(
                f"rollout-{rollout.pk}",
                StateLabel(StateKind.WARN, _("Probe")),
                what,
                " ".join(lost),
                rollout.finished,
                _("Open"),
                page,
                gateways=frozenset(each.gateway_id for each in steps if evidence.describe_all_lost_packets([each])),
            )


def iter_decision_needs() -> Iterator[AttentionItem]:
    """Yield what waits for an approval, and groups on hold at an older revision."""
    for held in list_cached_waiting_parts():
        state, page = StateLabel(StateKind.WAIT, _("Approval")), resolve_url("deployments:held", held.pk)
        yield AttentionItem(
            f"held-{held.pk}", state, title_of_held(held), render_reason(held), held.since, _("Review"), page, is_decision=True
        )
    for hold in map_revision_holds_by_group().values():
        words = _("%(group)s is on hold at %(revision)s") % {"group": hold.group, "revision": hold.revision}
        by = f"{hold.by.name}: {hold.why}" if hold.by else hold.why
        page = resolve_url("deployments:release", hold.group_id)
        state = StateLabel(StateKind.WAIT, _("Hold"), "hold")
        yield AttentionItem(f"hold-{hold.pk}", state, words, by, hold.since, _("Release…"), page, is_intended=True)
