"""Work waits in a queue although its program works: there is more to do than it can do."""

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.ui import formats
from apps.operations.models import ProcessRole
from apps.operations.portal_health.rule import PortalEvidence, PortalKind, PortalRule, PortalSituation, PortalValues

LONGEST: Final = {"feeds": 3600}  # seconds; a large list takes minutes
OTHERWISE: Final = 300
MANY: Final = 500
"""Messages of unknown age that are too many: the schedule alone sends a queue some hundred in five minutes."""


def _find(situation: PortalSituation) -> PortalEvidence | None:
    served = [each for each in situation.figures.broker.queues if each.is_served]
    found = [(each.oldest, each) for each in served if each.oldest and each.oldest >= LONGEST.get(each.role, OTHERWISE)]
    found += [(0, each) for each in served if each.oldest is None and each.messages >= MANY]
    if not found:
        return None
    seconds, worst = max(found, key=lambda pair: pair[0])
    return PortalEvidence(PortalKind.WARN, {"role": worst.role, "queue": worst.queue, "messages": worst.messages, "seconds": seconds})


def _describe(values: PortalValues) -> str:
    given = {
        "role": ProcessRole(str(values["role"])).label,
        "queue": values["queue"],
        "number": formats.format_number(int(values["messages"])),
        "duration": formats.format_duration(float(values["seconds"])),
    }
    if not values["seconds"]:
        return _("%(number)s tasks wait for the %(role)s (queue “%(queue)s”).") % given
    return _("%(number)s tasks wait for the %(role)s (queue “%(queue)s”), the oldest for %(duration)s.") % given


RULE: Final = PortalRule(
    "queue_behind",
    gettext_lazy("Queue"),
    gettext_lazy("The portal’s programs do not keep up with their work"),
    _find,
    _describe,
    gettext_lazy("Look in the program’s log at what it does for so long; a second one of the same kind may be started at any time."),
)
