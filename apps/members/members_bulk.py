"""Services that write many members and devices in a constant number of statements. The rules for a single one are in services.py.

All or none: any refusal raises Problem, Conflict or IntegrityError, and the caller's transaction is to be rolled back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import date
from itertools import count
from operator import attrgetter

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib import dependents
from apps.lib.database.bulk_copy import copy_rows
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.members.models import Device, Member, Tariff
from apps.members.services import LAST_NUMBER, demand_offered, reserve_number

CHANGE = """
    UPDATE members_member m SET name = w.name, email = w.email, language = w.language, state = w.state, tariff_id = w.tariff_id,
        room_id = w.room_id, since = w.since, paid_until = w.paid_until, note = w.note, version = m.version + 1
    FROM unnest(%s::bigint[], %s::int[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::date[], %s::date[],
        %s::text[]) AS w (id, version, name, email, language, state, tariff_id, room_id, since, paid_until, note)
    WHERE m.id = w.id AND m.version = w.version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberValues:
    """The columns of a member that people enter. tariff_id, room_id: ids."""

    name: str
    email: str
    language: str
    state: str
    tariff_id: int
    room_id: int | None
    since: date
    paid_until: date | None
    note: str


COLUMNS = tuple(each.name for each in fields(MemberValues))
_get_columns = attrgetter(*COLUMNS)


@dataclass(frozen=True, slots=True)
class MemberUpdate:
    """A member's new values, on top of the version that was read. activates: the state becomes active."""

    member: int
    version: int
    values: MemberValues
    activates: bool = False


@dataclass(frozen=True, slots=True)
class DeviceDraft:
    """A device to be added. member: the owner's id."""

    member: int
    name: str
    mac: str


@transaction.atomic
def add_members(*, wanted: Sequence[tuple[int | None, MemberValues]], by: User) -> list[int]:
    """Add members with these numbers, or with the next free ones where the number is None. Return their ids, in this order."""
    _demand_offered_tariffs({values.tariff_id for _number, values in wanted})
    numbers = _choose_numbers([number for number, _values in wanted])
    rows = ((number, 1, *_get_columns(values)) for number, (_given, values) in zip(numbers, wanted, strict=True))
    made = copy_rows(Member, ("number", "version", *COLUMNS), rows)
    enqueue_task("workers.reconcile", by.pk)
    return made


@transaction.atomic
def change_members(*, wanted: Sequence[MemberUpdate], by: User) -> None:
    """Change members. Raises Conflict when one was changed since its version."""
    _demand_offered_tariffs(_find_new_tariffs(wanted))
    ids = [each.member for each in wanted]
    list(Member.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    columns = [ids, [each.version for each in wanted], *([getattr(each.values, name) for each in wanted] for name in COLUMNS)]
    with connection.cursor() as cursor:
        cursor.execute(CHANGE, columns)
        if cursor.rowcount != len(wanted):
            raise Conflict(_("A member was changed by someone else at the same moment. Check the table again."))
    dependents.mark_dependents_changed(Member, [each.member for each in wanted if each.activates])
    enqueue_task("workers.reconcile", by.pk)


@transaction.atomic
def add_devices(*, wanted: Sequence[DeviceDraft], by: User) -> list[int]:
    """Add devices and return their ids, in this order."""
    made = copy_rows(Device, ("member_id", "name", "mac"), ((each.member, each.name, each.mac) for each in wanted))
    enqueue_task("workers.reconcile", by.pk)
    return made


def _find_new_tariffs(wanted: Sequence[MemberUpdate]) -> set[int]:
    """Return the tariffs that some of these members get and did not have."""
    now = dict(Member.objects.filter(pk__in=[each.member for each in wanted]).values_list("pk", "tariff_id"))
    return {each.values.tariff_id for each in wanted if now.get(each.member) != each.values.tariff_id}


def _demand_offered_tariffs(tariffs: set[int]) -> None:
    for tariff in Tariff.objects.filter(pk__in=tariffs):
        demand_offered(tariff)


def _choose_numbers(given: Sequence[int | None]) -> list[int]:
    """Return the given numbers, and free ones in place of None. Raises Problem when no number is left."""
    if None not in given:
        return [number for number in given if number is not None]
    taken = {number for number in given if number is not None}
    first, after = reserve_number(), max(taken, default=0) + 1
    first = max(first, after) if after <= LAST_NUMBER else first
    taken |= set(Member.objects.filter(number__gte=first).values_list("number", flat=True))
    free = _iter_free(first, taken)
    return [next(free) if number is None else number for number in given]


def _iter_free(first: int, taken: set[int]) -> Iterator[int]:
    for number in count(first):
        if number > LAST_NUMBER:
            raise Problem(_("There are not enough free member numbers. Write numbers into the table."), "number")
        if number not in taken:
            yield number
