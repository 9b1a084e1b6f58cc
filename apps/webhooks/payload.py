"""Builds the JSON facts of a delivery from an event of the history. Documented in docs/webhooks.md."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings

from apps.webhooks.event_kinds import ReportableCollection

NOW: Final = timedelta(minutes=1)  # an event has the time at which its transaction began; an end has the time of its statement


def derive_change_type(event: Any, before: Any | None) -> str:
    """Return "created", "changed" or "removed".

    A row that ends now counts as removed, though the history keeps it. A row with another planned end counts as changed.
    """
    if event.pgh_label == "insert":
        return "created"
    return "removed" if event.pgh_label == "delete" or (before and _has_ended(event, before)) else "changed"


def _has_ended(event: Any, before: Any) -> bool:
    end = event.valid.upper if hasattr(event, "valid") else None
    return bool(end and end != before.valid.upper and end <= event.pgh_created_at + NOW)


def build_payload(kind: ReportableCollection, event: Any, before: Any | None, people: Mapping[int, str]) -> dict[str, Any] | None:
    """Return the facts of an event without the delivery's id, or None if no field changed that the API shows."""
    happened, now = derive_change_type(event, before), kind.render_fields(event)
    earlier = kind.render_fields(before) if before is not None else (now if happened == "removed" else None)
    if happened == "changed" and earlier == now:
        return None
    metadata = event.pgh_context.metadata if event.pgh_context else {}
    pk = kind.get_object_id(event)
    person, reason = metadata.get("user"), metadata.get("reason")
    return {
        "event": f"{kind.name}.{happened}",
        "at": format_time(event.pgh_created_at),
        "object": {"kind": kind.name, "id": pk, "url": f"{settings.PORTAL_URL}{kind.path}{pk}/"},
        "by": {"id": person, "username": people.get(person)} if isinstance(person, int) else None,
        "reason": reason if isinstance(reason, str) else "",
        "before": None if happened == "created" else earlier,
        "after": None if happened == "removed" else now,
    }


def format_time(at: datetime) -> str:
    """Format a time as RFC 3339."""
    return at.isoformat()
