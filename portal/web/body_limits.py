"""Size limits of request bodies, known before a body is read: by the request's route, and by whether the client has signed in."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.http import Http404
from django.urls import resolve

from apps.alarms.duty.calendar_events import MOST_OCTETS as CALENDAR_OCTETS
from apps.bans.feed_parser import FeedLimits
from apps.desk.people_import.table_limits import MOST_BODY, MOST_OCTETS
from apps.events.subscriber_rights import SubscriberRefused, authenticate_subscriber, parse_asgi_scope
from apps.tickets.attachments import MAX_FILES_PER_MESSAGE as FILES

USUAL: Final = 1 << 20  # octets
FIELDS: Final = 1 << 20  # octets of a form beside its files


def _build_upload_limits() -> Mapping[str, int]:
    message = FILES * settings.ATTACHMENT_OCTETS + FIELDS
    tickets = dict.fromkeys(("tickets:new", "tickets:ticket", "own:ticket-new", "own:ticket", "own:check-ticket"), message)
    tables = {"bans:import": FeedLimits().octets + FIELDS, "desk:people-import": MOST_OCTETS + FIELDS, "members:payments": 8 << 20}
    calendars = dict.fromkeys(("alarms:calendar-add", "alarms:calendar"), CALENDAR_OCTETS + FIELDS)
    return {**tickets, **tables, **calendars, "api:people-import-list": MOST_BODY}


UPLOADS: Final = _build_upload_limits()
"""Octets for pages that take files, by the name of their route."""


def get_body_limit(path: str) -> int:
    """Return the octets that a client that has signed in may send to this path."""
    try:
        name = resolve(path).view_name
    except Http404:
        return USUAL
    return UPLOADS.get(name, settings.DATA_UPLOAD_MAX_MEMORY_SIZE if name.startswith("api:") else USUAL)


def is_signed_in(scope: Any) -> bool:
    """True if the request has a valid session or token. Queries the database, so call it in a thread."""
    try:
        authenticate_subscriber(parse_asgi_scope(scope))
    except SubscriberRefused:
        return False
    return True
