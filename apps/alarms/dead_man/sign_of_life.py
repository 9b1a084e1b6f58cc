"""Sign of life, sent to an outside service that tells people when it stays away.

It is sent only while the database answers and every program of the portal does its work, so that a dead worker is missed too.
"""

from datetime import datetime
from typing import Final

import structlog
from django.conf import settings

from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, OutgoingRequest, open_request, parse_url
from apps.operations import heartbeats

LIMIT: Final = 10.0  # seconds
log = structlog.get_logger()


class SignOfLifeError(Exception):
    """The outside service did not take it."""


def send_sign_of_life(now: datetime) -> bool:
    """Send it. False if there is no address, or something is wrong with the portal. Raises SignOfLifeError."""
    if not settings.SIGN_OF_LIFE_URL:
        return False
    if faults := heartbeats.list_process_faults(now):
        log.warning("no sign of life", roles=[fault.role.value for fault in faults])
        return False
    try:
        with open_request(parse_url(settings.SIGN_OF_LIFE_URL), OutgoingRequest(), AllowedTargets(private=True), LIMIT) as answer:
            if answer.status >= 400:
                raise SignOfLifeError(f"it answered {answer.status}")
    except NoAnswer as error:
        raise SignOfLifeError(f"{error.fault}: {error.what}") from error
    return True
