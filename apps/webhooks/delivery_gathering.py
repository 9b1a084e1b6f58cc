"""Turns history events into queued deliveries: one delivery of each event for each subscribed endpoint.

Each table's events are read in the order of their ids, up to an id below which no transaction can still commit (docs/adr/0022).
The read position and the queued deliveries are committed in one transaction: an event becomes exactly one delivery for each
endpoint, even after a crash.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery
from rest_framework.utils.encoders import JSONEncoder

from apps.accounts.models import User
from apps.accounts.permissions import has_right
from apps.webhooks import payload
from apps.webhooks.event_kinds import ReportableCollection, list_reportable_collections
from apps.webhooks.models import Delivery, Endpoint, Position
from apps.webhooks.subscribable_kinds import WebhookKind

MAX_EVENTS_PER_RUN: Final = 1000  # events of one table in one run
LOCK: Final = 7_466_201  # advisory lock: one run at a time
# Read before the list of writers: a transaction that drew an id up to this value holds the table's lock by then, or has ended.
DRAWN: Final = """
    SELECT sequencename, last_value FROM pg_sequences
    WHERE schemaname = current_schema() AND sequencename = ANY(%s) AND last_value IS NOT NULL
"""
# Transactions that have written into these tables and have not ended. Our own is left out: it sees its own writes.
WRITING: Final = """
    SELECT relname, virtualtransaction FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND mode = 'RowExclusiveLock' AND granted AND pid <> pg_backend_pid() AND relname = ANY(%s)
"""


def begin_positions() -> None:
    """Start reading tables that have no position yet: each begins after its last drawn id."""
    tables, drawn = _list_tables(), _list_drawn_ids()
    known = set(Position.objects.values_list("table", flat=True))
    fresh = [Position(table=each, done=drawn.get(each, 0), settled=drawn.get(each, 0)) for each in tables if each not in known]
    Position.objects.bulk_create(fresh, ignore_conflicts=True)


@transaction.atomic
def gather_deliveries() -> bool:
    """Queue deliveries for new events. Returns True if there are more. Does nothing if another run holds the lock or no endpoint exists."""
    if not _try_lock():
        return False
    if not Endpoint.objects.exists():
        Position.objects.all().delete()
        return False
    if Position.objects.filter(table__in=_list_tables()).count() < len(list_reportable_collections()):
        begin_positions()
    positions = _settle_positions()
    endpoints = list(Endpoint.objects.filter(active=True, owner__is_active=True).select_related("owner"))  # also of the last event's moment
    return sum(_gather_kind(kind, positions[kind.events._meta.db_table], endpoints) for kind in list_reportable_collections().values()) > 0


def _gather_kind(kind: ReportableCollection, position: Position, endpoints: Sequence[Endpoint]) -> bool:
    if position.done >= position.settled:
        return False
    wanted = [each for each in endpoints if is_subscribed(each, kind)]
    found = _list_events(kind, position) if wanted else []
    Delivery.objects.bulk_create(_iter_deliveries(kind, found, wanted), ignore_conflicts=True, batch_size=500)
    more = len(found) == MAX_EVENTS_PER_RUN
    Position.objects.filter(pk=position.pk).update(done=found[-1][0].pgh_id if more else position.settled)
    return more


def is_subscribed(endpoint: Endpoint, kind: WebhookKind) -> bool:
    """True if the endpoint chose this kind and its owner may see it now."""
    owner: User = endpoint.owner
    return (not endpoint.kinds or kind.name in endpoint.kinds) and owner.is_active and has_right(owner, kind.right)


def _list_events(kind: ReportableCollection, position: Position) -> list[tuple[Any, Any | None]]:
    """Return new events in the order of their ids, each with the previous event of the same row."""
    manager = kind.events._default_manager
    earlier = manager.filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id")).order_by("-pgh_id")
    fresh = manager.filter(pgh_id__gt=position.done, pgh_id__lte=position.settled).order_by("pgh_id")
    chosen = list(fresh.select_related("pgh_context").annotate(earlier=Subquery(earlier.values("pgh_id")[:1]))[:MAX_EVENTS_PER_RUN])
    before = manager.in_bulk([event.earlier for event in chosen if event.earlier])
    return [(event, before.get(event.earlier)) for event in chosen]


def _iter_deliveries(
    kind: ReportableCollection, found: Sequence[tuple[Any, Any | None]], endpoints: Sequence[Endpoint]
) -> Iterable[Delivery]:
    people = _map_usernames(event for event, _before in found)
    for event, before in found:
        facts = payload.build_payload(kind, event, before, people)
        for endpoint in endpoints if facts else ():
            if not endpoint.on or payload.derive_change_type(event, before) in endpoint.on:
                yield build_delivery(
                    endpoint, facts or {}, source=kind.events._meta.db_table, position=event.pgh_id, object_id=kind.get_object_id(event)
                )


def build_delivery(endpoint: Endpoint, facts: Mapping[str, Any], **about: Any) -> Delivery:
    """Build an unsaved delivery; its body contains its id."""
    uid = uuid4()
    body = json.dumps({"delivery": str(uid), **facts}, cls=JSONEncoder, ensure_ascii=False)
    return Delivery(endpoint=endpoint, uid=uid, event=facts["event"], body=body, **about)


def _map_usernames(events: Iterable[Any]) -> dict[int, str]:
    ids = {event.pgh_context.metadata.get("user") for event in events if event.pgh_context}
    wanted = [each for each in ids if isinstance(each, int)]
    return dict(get_user_model()._default_manager.filter(pk__in=wanted).values_list("pk", "username")) if wanted else {}


# --- Position up to which the history is complete


def _settle_positions() -> dict[str, Position]:
    """Return all positions, each moved up to the id below which no transaction can still commit."""
    drawn, writing = _list_drawn_ids(), _list_writers()
    positions = {each.table: each for each in Position.objects.all()}
    for position in positions.values():
        if advance_position(position, drawn.get(position.table, 0), writing.get(position.table, [])):
            position.save(update_fields=["settled", "candidate", "holders"])
    return positions


def advance_position(position: Position, drawn: int, writing: Sequence[str]) -> bool:
    """Move `settled` up as far as possible. Returns True if the position changed.

    drawn: the highest id drawn. writing: virtual ids of the transactions that have written into the table and not ended.
    """
    was = position.settled, position.candidate
    if position.candidate is not None and not set(position.holders) & set(writing):
        position.settled, position.candidate, position.holders = max(position.settled, position.candidate), None, []
    if position.candidate is None and drawn > position.settled:
        if writing:
            position.candidate, position.holders = drawn, list(writing)
        else:
            position.settled = drawn
    return was != (position.settled, position.candidate)


def _list_tables() -> list[str]:
    return [kind.events._meta.db_table for kind in list_reportable_collections().values()]


def _list_drawn_ids() -> dict[str, int]:
    """Return the highest id drawn from each table's sequence."""
    with connection.cursor() as cursor:
        cursor.execute(DRAWN, [[f"{table}_pgh_id_seq" for table in _list_tables()]])
        return {name.removesuffix("_pgh_id_seq"): last for name, last in cursor.fetchall()}


def _list_writers() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(WRITING, [_list_tables()])
        for table, transaction_ in cursor.fetchall():
            found.setdefault(table, []).append(transaction_)
    return found


def _try_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
        return bool(cursor.fetchone()[0])
