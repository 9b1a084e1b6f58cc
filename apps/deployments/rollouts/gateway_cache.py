"""Per-process cache of what gateways run and of the newest stored revision, so that a change costs what it touches.

A lost cache costs time, never correctness.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from apps.deployments.approvals.approval_gate import ConfirmedRevision, RunningState
from apps.deployments.models import GatewayState, Revision
from apps.deployments.observed_state.gateway_states import list_confirmed_revisions
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.contents import ContentNotStored
from apps.deployments.transport.agent_client import KnownRuleset
from apps.lib.database.compiled_query import compile_once
from apps.network.models import GatewayGroup
from firewall.digest import digest_ruleset
from firewall.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class CachedRevision:
    """The newest revision that this process has stored, and its rulesets by gateway id."""

    revision: int
    rulesets: Mapping[int, Ruleset]


class RulesetCache:
    """Rulesets by gateway, and the newest stored revision by group."""

    def __init__(self) -> None:
        self._known: dict[int, KnownRuleset] = {}
        self._kept: dict[int, CachedRevision] = {}

    def recall(self, gateway: int) -> KnownRuleset | None:
        """Return what this process last brought the gateway to."""
        return self._known.get(gateway)

    def remember(self, gateway: int, known: KnownRuleset) -> None:
        """Remember that the gateway runs this."""
        self._known[gateway] = known

    def find_cached_revision(self, group: int) -> CachedRevision | None:
        """Return the group's newest stored revision, the base of the next one's delta."""
        return self._kept.get(group)

    def keep(self, group: int, kept: CachedRevision) -> None:
        """Remember the group's newest stored revision."""
        self._kept[group] = kept

    def load_running_state(self, group: GatewayGroup) -> RunningState | None:
        """Return what the group's gateways have confirmed; read from the database where another process brought a gateway to its revision.

        The newest revision may have been confirmed by a gateway that was retired since, or by the former machine of one: what was gone
        there does not come back, and if every machine was replaced, a removal waits for its approval as before. Return None if no gateway
        has confirmed anything, or none has a state and nothing is stored.
        """
        states = _read_confirmed_states(group.pk)
        if not states:
            return self._load_confirmed(group, list_confirmed_revisions(group.pk).first())
        rulesets = {state.gateway_id: known.ruleset for state in states if (known := self._find_known(state))}
        by_gateway = {state.gateway_id: _build_confirmed(state.revision, [state]) for state in states if state.revision}
        newest = max((each.revision for each in by_gateway.values()), key=lambda revision: revision.pk)
        at_newest = [state for state in states if state.revision_id == newest.pk]
        if at_newest[0].later and (lost := self._load_confirmed(group, Revision.objects.get(pk=at_newest[0].later))):
            return replace(lost, rulesets=rulesets, confirmed=by_gateway)
        read = [rulesets[state.gateway_id] for state in at_newest if state.gateway_id in rulesets]
        reference = read[0] if read else self._find_nearest_stored(group, newest)
        return RunningState(_build_confirmed(newest, at_newest), rulesets, reference, by_gateway)

    def _load_confirmed(self, group: GatewayGroup, revision: Revision | None) -> RunningState | None:
        """Return the state of a group of which a gateway has confirmed this revision, without each gateway's own; None if unknown."""
        reference = self._find_nearest_stored(group, revision) if revision else None
        return RunningState(ConfirmedRevision(revision, revision.snapshot), {}, reference, {}) if revision and reference else None

    def _find_nearest_stored(self, group: GatewayGroup, revision: Revision) -> Ruleset | None:
        """Return a ruleset of the newest stored revision up to this one, else of the oldest that is newer."""
        stored = Revision.objects.filter(group=group).exclude(content=None)
        nearest = stored.filter(pk__lte=revision.pk).order_by("-pk").first() or stored.order_by("pk").first()
        if nearest is None:
            return None
        kept = self._kept.get(group.pk)
        if kept is None or kept.revision != nearest.pk:
            kept = self._kept[group.pk] = CachedRevision(nearest.pk, contents.load_rulesets_in_service(nearest))
        return next(iter(kept.rulesets.values()), None)

    def _find_known(self, state: GatewayState) -> KnownRuleset | None:
        known = self._known.get(state.gateway_id)
        if state.revision is None or (known and known.revision == state.revision_id):
            return known
        ruleset = _find_content(state.revision, state.gateway_id)
        if ruleset is None:
            return None
        self._known[state.gateway_id] = KnownRuleset(state.revision.pk, digest_ruleset(ruleset), ruleset)
        return self._known[state.gateway_id]


@compile_once
def _read_confirmed_states(group: int) -> QuerySet[Any]:
    """Read the states of gateways in service that have confirmed a revision, each with the id of a `later` one that is stored."""
    of_group = GatewayState.objects.filter(gateway__group=group, gateway__retired=None).exclude(revision=None)
    later = list_confirmed_revisions(group).filter(pk__gt=OuterRef("revision")).exclude(content=None).values("pk")[:1]
    return of_group.select_related("revision").annotate(later=Subquery(later))


def _build_confirmed(revision: Revision, states: Iterable[GatewayState]) -> ConfirmedRevision:
    """Build what these gateways have confirmed; the read is the earliest of theirs."""
    seen = min((state.snapshot for state in states if state.snapshot), key=_parse_oldest_unseen, default=revision.snapshot)
    return ConfirmedRevision(revision, seen)


def _parse_oldest_unseen(snapshot: str) -> int:
    """Return the oldest transaction that the read "xmin:xmax:running" may not have seen."""
    return int(snapshot.split(":")[0])


def _find_content(revision: Revision, gateway: int) -> Ruleset | None:
    try:
        return contents.load_rulesets_in_service(revision).get(gateway)
    except ContentNotStored:
        return None
