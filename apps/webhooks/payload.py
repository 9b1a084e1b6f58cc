"""What a delivery says: an event of the history comes in, JSON goes out. Docs: docs/webhooks.md."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings

from apps.webhooks.kinds import Kind


def what(event: Any, before: Any | None) -> str:
    """created, changed or removed. A row that ends is removed, though the history keeps it."""
    if event.pgh_label == "insert":
        return "created"
    ended = before and hasattr(event, "valid") and event.valid.upper and not before.valid.upper
    return "removed" if event.pgh_label == "delete" or ended else "changed"


def told(kind: Kind, event: Any, before: Any | None, people: Mapping[int, str]) -> dict[str, Any] | None:
    """The facts of an event, without the delivery's id; None when nothing changed that the API shows."""
    happened, now = what(event, before), kind.shown(event)
    earlier = kind.shown(before) if before is not None else (now if happened == "removed" else None)
    if happened == "changed" and earlier == now:
        return None
    metadata = event.pgh_context.metadata if event.pgh_context else {}
    person, reason = metadata.get("user"), metadata.get("reason")
    return {
        "event": f"{kind.name}.{happened}",
        "at": moment(event.pgh_created_at),
        "object": {"kind": kind.name, "id": event.pgh_obj_id, "url": f"{settings.PORTAL_URL}{kind.path}{event.pgh_obj_id}/"},
        "by": {"id": person, "username": people.get(person)} if isinstance(person, int) else None,
        "reason": reason if isinstance(reason, str) else "",
        "before": None if happened == "created" else earlier,
        "after": None if happened == "removed" else now,
    }


def moment(at: datetime) -> str:
    """RFC 3339."""
    return at.isoformat()
