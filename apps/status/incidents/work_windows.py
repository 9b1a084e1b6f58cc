"""Work windows: the times in which planned work goes on at gateways, so that what happens to these gateways surprises nobody.

A window is open from the planned beginning to the planned end. Work that takes longer stays open while its last update says that it is
under way, at most LONGEST_OVERRUN, because some people forget to say that it is over. Work that is ended earlier or called off is closed.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import OuterRef, QuerySet, Subquery

from apps.deployments.rollouts.progress import join_names
from apps.lib.web.frame_reads import read_with_frame
from apps.status.incidents.models import Incident, IncidentUpdate

LONGEST_OVERRUN: Final = timedelta(hours=6)


@dataclass(frozen=True)
class WorkWindow:
    """Planned work that goes on now. gateways: ids of those it names. until: when the window closes if nobody says more."""

    incident: Incident
    gateways: frozenset[int]
    until: datetime

    @property
    def names(self) -> str:
        """The names of its gateways."""
        return join_names(sorted(each.name for each in self.incident.gateways.all()))

    def covers(self, gateways: Collection[int]) -> bool:
        """True if what concerns these gateways concerns no other one. What concerns none in particular is the network's."""
        return bool(gateways) and self.gateways.issuperset(gateways)


def compute_window_end(planned_end: datetime, stage: str, now: datetime) -> datetime:
    """Return when the window of work that has begun and is not over closes. stage: that of its last update."""
    overruns = now >= planned_end and stage == IncidentUpdate.Stage.UNDER_WAY
    return planned_end + LONGEST_OVERRUN if overruns else planned_end


def list_work_windows(now: datetime) -> list[WorkWindow]:
    """Return the windows that are open now, the one that closes last first."""
    found = [_build_window(row, row.stage or "", now) for row in _list_open_work() if row.began <= now]
    return sorted((each for each in found if each.until > now and each.gateways), key=lambda each: each.until, reverse=True)


@read_with_frame
def _list_open_work() -> QuerySet[Any]:
    """Return planned work that nobody has ended, with the stage of its last update."""
    last = IncidentUpdate.objects.filter(incident=OuterRef("pk")).order_by("-at", "-pk").values("stage")[:1]
    planned = Incident.objects.filter(kind=Incident.Kind.MAINTENANCE, ended=None)
    return planned.annotate(stage=Subquery(last)).select_related("opened_by").prefetch_related("gateways").order_by("pk")


def _build_window(incident: Incident, stage: str, now: datetime) -> WorkWindow:
    if incident.planned_end is None:
        raise ValueError("the database has refused planned work without an end")
    gateways = frozenset(each.pk for each in incident.gateways.all())
    return WorkWindow(incident, gateways, compute_window_end(incident.planned_end, stage, now))


def find_work_at(gateways: Collection[int], windows: Iterable[WorkWindow]) -> WorkWindow | None:
    """Return the work that explains what concerns these gateways; None if there is none, or it is at some of them only."""
    return next((each for each in windows if each.covers(gateways)), None)
