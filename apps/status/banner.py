"""What a member's own pages tell of incidents: open faults, and planned work of the next days, that affect the member's house."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from apps.accounts.models import User
from apps.lib.ui.states import StateKind
from apps.members.models import Member
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.incidents.phase import IncidentPhase, find_phase
from apps.status.incidents.selectors import affects_member, list_current_incidents
from apps.status.network_services import Impact


@dataclass(frozen=True)
class IncidentBanner:
    """One incident: its kind, where it stands, and what was told last."""

    incident: Incident
    kind: StateKind
    phase: IncidentPhase
    last: IncidentUpdate | None


def build_banners(user: object) -> Sequence[IncidentBanner]:
    """Return the banners for an account's member; none for other accounts."""
    if not isinstance(user, User) or not (current := list_current_incidents()):
        return []
    member = Member.objects.filter(user=user).select_related("room").first()
    return [_build_banner(each) for each in current if affects_member(each, member)] if member else []


def _build_banner(incident: Incident) -> IncidentBanner:
    told: Sequence[IncidentUpdate] = incident.told  # type: ignore[attr-defined]  # the query brings them along
    kind = StateKind.BAD if incident.impact == Impact.DOWN else StateKind.WARN
    if incident.is_maintenance:
        kind = StateKind.MOVING
    return IncidentBanner(incident, kind, find_phase(incident, timezone.now()), told[0] if told else None)
