"""Every change of a tracked table leaves an event, whoever made it: triggers also see bulk updates and raw SQL.

Inserts and deletes write their events once per statement. Row by row, each event waits for all foreign keys that are still to
be checked, which is quadratic: 120,430 bans took 5 minutes, now 3 s. Updates queue no such checks, and stay row by row: joining
what was with what is by a cached plan for one row would be quadratic too. Bulk writers update first, and insert last.
"""

from collections.abc import Callable, Sequence

import pghistory
import pgtrigger
from django.db import models


def track_history[Model: models.Model](*, exclude: Sequence[str] = ()) -> Callable[[type[Model]], type[Model]]:
    """Keep the history of a model; `exclude` names columns that are none of it."""
    track: Callable[[type[Model]], type[Model]] = pghistory.track(
        pghistory.InsertEvent(level=pgtrigger.Statement),
        pghistory.UpdateEvent(),
        pghistory.DeleteEvent(level=pgtrigger.Statement),
        exclude=list(exclude),
    )
    return track
