"""Finds who asked for a held-back change: the authors of the rows concerned, by their history, not the user who triggered a worker.

Takes things (`rule_kinds/kind.py`) and returns user ids, and whether some of it has no known author (raw SQL, or a script that names
none). Events count from the read of the database that the running ruleset corresponds to. A thing without events since then ended
by time; its last author planned that.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from apps.deployments.rule_kinds.kind import AffectedThing
from apps.deployments.rule_kinds.registry import get_removal_definition
from firewall.sets import ObjectKind

_SINCE: Final = """(
    mod(mod(event.xmin::text::bigint - %(first)s + 2147483648, 4294967296) + 4294967296, 4294967296) >= 2147483648
    OR event.xmin::text::bigint = ANY(%(running)s)
)"""
_FIRST_OF_RUNNING: Final = "SELECT min(xid::text::bigint) FROM deployments_touched WHERE xid::text::bigint = ANY(%s)"
_THINGS: Final = """
    WITH thing AS (
        SELECT * FROM unnest(%(numbers)s::int[], %(prefixes)s::cidr[], %(publics)s::inet[], %(protocols)s::text[], %(ports)s::int[],
            %(counts)s::int[]) AS thing(number, prefix, public, protocol, port, ports)
    ),
    held AS MATERIALIZED (
        SELECT DISTINCT thing.number, holding.pgh_obj_id AS holding, holding.member_id AS member FROM thing
        JOIN network_holdingevent holding ON {lies}
    ),
    event AS ({events})
"""
_EVENT: Final = "SELECT {thing}.number, event.pgh_id, event.pgh_created_at AS at, event.pgh_context_id AS context, {since} AS fresh"
_USERS: Final = """
    SELECT event.number, event.fresh, (context.metadata ->> 'user')::bigint, event.at FROM (
        SELECT DISTINCT number, fresh, context, at FROM event
    ) event LEFT JOIN pghistory_context context ON context.id = event.context
"""


@dataclass(frozen=True, slots=True)
class Requesters:
    """Users who asked for a change. users: their ids. unknown: other users may have asked as well."""

    users: frozenset[int]
    unknown: bool = False


def compute_object_requesters(kind: ObjectKind, things: Iterable[AffectedThing], baseline: str | None) -> Requesters:
    """Return the authors of what removes these things since the read `baseline`; without events since, the last author of each."""
    asked = list(things)
    events = _load_events(kind, asked, baseline)
    return _merge_askers(_collect_writers(events.get(number, [])) for number in range(len(asked)))


def compute_gateway_requesters(names: Iterable[str], baseline: str | None) -> Requesters:
    """Return the users who changed the gateways of these names since the read."""
    query = f"""
        SELECT event.name, {_SINCE} AS fresh, (context.metadata ->> 'user')::bigint, event.pgh_created_at
        FROM network_gatewayevent event LEFT JOIN pghistory_context context ON context.id = event.pgh_context_id
        WHERE event.pgh_obj_id IN (SELECT id FROM network_gateway WHERE name = ANY(%(names)s) AND retired IS NULL)
    """  # noqa: S608 - constants
    with connection.cursor() as cursor:
        cursor.execute(query, {"names": list(names), **_build_since_parameters(baseline)})
        rows = cursor.fetchall()
    return _collect_writers([(fresh, user, at) for _name, fresh, user, at in rows])


def _load_events(kind: ObjectKind, things: list[AffectedThing], baseline: str | None) -> dict[int, list[tuple[bool, int | None, Any]]]:
    """Return events by the thing's number: whether the event is newer than the baseline, its author, and its time."""
    given: dict[str, Any] = {
        "numbers": list(range(len(things))),
        "prefixes": [thing.prefix for thing in things],
        "publics": [thing.public or None for thing in things],
        "protocols": [thing.protocol for thing in things],
        "ports": [thing.port for thing in things],
        "counts": [thing.number for thing in things],
        **_build_since_parameters(baseline),
    }
    found: dict[int, list[tuple[bool, int | None, Any]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_build_query(kind), given)
        for number, fresh, user, at in cursor.fetchall():
            found.setdefault(number, []).append((fresh, user, at))
    return found


def _build_query(kind: ObjectKind) -> str:
    removal = get_removal_definition(kind)
    events = " UNION ALL ".join(
        f"{_EVENT.format(thing=thing, since=_SINCE)} FROM {thing} JOIN {table} event ON {condition.format(since=_SINCE)}"
        for thing, table, condition in removal.sources
    )
    return _THINGS.format(lies=f"holding.prefix {removal.holding_operator} thing.prefix", events=events) + _USERS


def _build_since_parameters(baseline: str | None) -> dict[str, Any]:
    """Return the transactions that the read may not have seen: those that ran at that time, and all from the first of them on.

    The first is the oldest that ran then and has noted a change since, as every change that reaches gateways does: its savepoints
    have later ids. Others that ran then, such as those of a backup or another database, wrote nothing that matters here.
    """
    if not baseline:
        return {"first": 0, "running": []}
    _oldest, end, running = baseline.split(":")
    known = [int(each) for each in running.split(",") if each]
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_OF_RUNNING, [known])
        [first] = cursor.fetchone()
    return {"first": first or int(end), "running": [each % 2**32 for each in known]}


def _collect_writers(events: list[tuple[bool, int | None, Any]]) -> Requesters:
    """Return the authors of one thing: all since the baseline, else the last one."""
    fresh = [user for newer, user, _at in events if newer]
    if not fresh and events:
        last = max(at for _newer, _user, at in events)
        fresh = [user for _newer, user, at in events if at == last]
    return Requesters(frozenset(user for user in fresh if user), not fresh or None in fresh)


def _merge_askers(each: Iterable[Requesters]) -> Requesters:
    users: set[int] = set()
    unknown = False
    for one in each:
        users |= one.users
        unknown = unknown or one.unknown
    return Requesters(frozenset(users), unknown)
