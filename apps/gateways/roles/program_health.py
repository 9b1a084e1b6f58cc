"""Whether keepalived and conntrackd work on a gateway, and whether a standby has the carrier's connections."""

from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _

from apps.gateways.roles.models import FailoverStatus
from apps.lib.ui import formats

IDLE: Final = {
    "elected": timedelta(seconds=30),
    "synchronised": timedelta(minutes=3),
}  # keepalived looks each second, conntrackd's timer twice a minute
FEW: Final = 1_000  # connections that a standby may lack whatever the share: they are opened and closed all the time
SHARE: Final = 0.8  # of the carrier's connections that its standby should have


def is_idle(status: FailoverStatus, fieldname: str) -> bool:
    """True if the program was not seen to work for long when the gateway answered last."""
    moment: datetime | None = getattr(status, fieldname)
    return moment is None or (status.seen is not None and status.seen - moment > IDLE[fieldname])


def lacks_states(carrier: FailoverStatus, other: FailoverStatus) -> bool:
    """True if the other gateway has far fewer connections in its kernel than the carrier."""
    return other.tracked < carrier.tracked * SHARE - FEW


def describe_lacking_states(carrier: FailoverStatus, other: FailoverStatus) -> str:
    """Return the sentence for that."""
    words = _("%(other)s has %(fewer)s connections, %(carrier)s %(number)s: those that are missing would end with a switch.")
    numbers = {"fewer": formats.format_number(other.tracked), "number": formats.format_number(carrier.tracked)}
    return words % {"other": other.gateway.name, "carrier": carrier.gateway.name, **numbers}
