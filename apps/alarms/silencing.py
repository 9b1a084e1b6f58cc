"""What keeps an alarm silent now: a silence that somebody asked for, or planned work at its gateways."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.alarms.models import Alarm, Silence
from apps.status.incidents.work_windows import WorkWindow, find_work_at, list_work_windows


@dataclass(frozen=True)
class CurrentSilences:
    """The silences and the planned work that go on at one time."""

    now: datetime
    silences: Sequence[Silence]
    works: Sequence[WorkWindow]

    def find_for(self, alarm: Alarm) -> Silence | WorkWindow | None:
        """Return the reason why nobody is told of this alarm; None if it may be told."""
        asked_for = next((each for each in self.silences if each.covers(alarm.key, self.now)), None)
        return asked_for or find_work_at(alarm.gateways, self.works)


def read_silences(now: datetime) -> CurrentSilences:
    """Read what is silent at this time."""
    silences = Silence.objects.filter(until__gt=now).select_related("by").order_by("until", "id")
    return CurrentSilences(now, list(silences), list_work_windows(now))
