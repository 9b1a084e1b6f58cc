"""Where an incident stands: planned, going on, over. Pure."""

from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from apps.lib.ui.states import StateKind, StateLabel
from apps.status.incidents.models import Incident
from apps.status.network_services import Impact


class IncidentPhase(StrEnum):
    """Where an incident stands."""

    PLANNED = "planned"
    OPEN = "open"
    OVERDUE = "overdue"  # planned work that lasts longer than planned
    OVER = "over"
    CALLED_OFF = "called_off"


def find_phase(incident: Incident, now: datetime) -> IncidentPhase:
    """Return where it stands at this time."""
    if incident.ended:
        return IncidentPhase.CALLED_OFF if incident.is_called_off else IncidentPhase.OVER
    if incident.began > now:
        return IncidentPhase.PLANNED
    return IncidentPhase.OVERDUE if incident.planned_end and incident.planned_end <= now else IncidentPhase.OPEN


def build_phase_label(incident: Incident, now: datetime) -> StateLabel:
    """Return the state that lists show."""
    phase = find_phase(incident, now)
    if phase is IncidentPhase.OPEN and not incident.is_maintenance:
        return StateLabel(StateKind.BAD if incident.impact == Impact.DOWN else StateKind.WARN, pgettext("incident", "Open"))
    return {
        IncidentPhase.PLANNED: StateLabel(StateKind.WAIT, _("Planned"), "clock"),
        IncidentPhase.OPEN: StateLabel(StateKind.MOVING, _("Under way")),
        IncidentPhase.OVERDUE: StateLabel(StateKind.WARN, _("Longer than planned"), "overdue"),
        IncidentPhase.OVER: StateLabel(StateKind.OK, _("Over")),
        IncidentPhase.CALLED_OFF: StateLabel(StateKind.PLAIN, _("Called off")),
    }[phase]
