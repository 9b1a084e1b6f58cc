"""Writes the plan of an import: all of it or nothing, with the bulk services of the apps concerned.

Members are changed before others are added, because updates are slow behind many inserts (`lib/database/history.py`).
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, Final

from django.db import IntegrityError, connection, transaction

from apps.accounts.models import User
from apps.desk.people_import.address_plan import PlannedAddress, PlannedForward
from apps.desk.people_import.known_network import KnownMember
from apps.desk.people_import.plan import ImportPlan, PlannedPerson
from apps.desk.people_import.progress import ImportProgress
from apps.desk.people_import.room_plan import RoomKey, SiteKey
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Prefix
from apps.members import members_bulk, site_services
from apps.members.members_bulk import DeviceDraft, MemberUpdate, MemberValues
from apps.members.models import Member, Site
from apps.members.room_names import RoomName
from apps.nat import forwards_bulk, mappings_bulk
from apps.nat import services as nat
from apps.nat.forwards_bulk import ForwardDraft
from apps.network import holdings_bulk
from apps.network.holdings_bulk import HoldingDraft, NewHolding
from apps.network.models import Holding, Pool
from apps.network.services import lock_pools

_WRITTEN: Final = (
    "rooms_added",
    "members_added",
    "members_changed",
    "devices_added",
    "addresses_added",
    "prefixes_added",
    "forwards_added",
)


def write_plan(plan: ImportPlan, *, by: User, progress: ImportProgress) -> None:
    """Write the plan. Must run within a transaction. Raises Problem, IntegrityError or ImportStopped; then that is to be rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # foreign keys are checked as rows come, not all at once in the end
    advance = _build_counter(plan, progress)
    rooms = _make_rooms(plan)
    advance("rooms_added")
    members = _write_members(plan, rooms, by)
    advance("members_added", "members_changed")
    devices = _add_devices(plan, members, by)
    advance("devices_added")
    holdings = _assign_addresses(plan, members, devices, by)
    advance("addresses_added", "prefixes_added")
    _map_addresses(plan, holdings, by)
    advance("addresses_added")
    _add_forwards(plan, by)


def _build_counter(plan: ImportPlan, progress: ImportProgress) -> Callable[..., None]:
    """Return a function that reports the written rows: those of these kinds too, from now on. An address counts twice: with its mapping."""
    counts, done = plan.count(), 0
    of = sum(counts[name] for name in (*_WRITTEN, "addresses_added"))

    def advance(*names: str) -> None:
        nonlocal done
        done += sum(counts[name] for name in names)
        progress.report(done, of)

    advance()
    return advance


def _make_rooms(plan: ImportPlan) -> dict[RoomKey, int]:
    """Make the missing houses and rooms, and return the rooms' ids."""
    sites: dict[SiteKey, Site] = {key: site_services.add_site(name=each.name, code=each.code) for key, each in plan.sites.items()}
    made: dict[RoomKey, int] = {}
    wanted: dict[SiteKey, list[RoomName]] = {}
    for (site, _name), room in plan.rooms.items():
        wanted.setdefault(site, []).append(RoomName(room.floor, room.name))
    for key, names in wanted.items():
        house = sites.get(key) or Site.objects.get(pk=key)
        known = site_services.ensure_rooms(site=house, rooms=names)
        made |= {(key, room.name.lower()): known[room.name.lower()] for room in names}
    return made


def _write_members(plan: ImportPlan, rooms: dict[RoomKey, int], by: User) -> dict[int, int]:
    """Change and add members, and return their ids by line."""
    changed = [person for person in plan.people if person.member and person.values]
    updates = [_build_update(person, person.member, rooms) for person in changed if person.member]
    if updates:
        members_bulk.change_members(wanted=updates, by=by)
    added = [person for person in plan.people if person.member is None]
    ids = members_bulk.add_members(wanted=[(person.number, _build_values(person.values, rooms)) for person in added], by=by)
    found = {person.line: person.member.id for person in plan.people if person.member}
    return found | {person.line: pk for person, pk in zip(added, ids, strict=True)}


def _build_update(person: PlannedPerson, member: KnownMember, rooms: dict[RoomKey, int]) -> MemberUpdate:
    now = {name: getattr(member, name) for name in ("name", "email", "language", "tariff", "room", "state", "since", "paid_until", "note")}
    values = _build_values(now | person.values, rooms)
    activates = values.state == Member.State.ACTIVE != member.state
    return MemberUpdate(member.id, member.version, values, activates)


def _build_values(values: dict[str, Any], rooms: dict[RoomKey, int]) -> MemberValues:
    room = values["room"]
    given = {name: value for name, value in values.items() if name not in ("tariff", "room")}
    return MemberValues(**given, tariff_id=values["tariff"], room_id=rooms[room] if isinstance(room, tuple) else room)


def _add_devices(plan: ImportPlan, members: dict[int, int], by: User) -> dict[str, int]:
    """Add the devices, and return their ids by MAC address."""
    wanted = [DeviceDraft(members[person.line], name, mac) for person in plan.people for name, mac in person.holdings.devices]
    ids = members_bulk.add_devices(wanted=wanted, by=by)
    return {each.mac: pk for each, pk in zip(wanted, ids, strict=True)}


def _iter_addresses(plan: ImportPlan) -> Iterable[tuple[int, PlannedAddress]]:
    return ((person.line, address) for person in plan.people for address in person.holdings.addresses)


def _assign_addresses(plan: ImportPlan, members: dict[int, int], devices: dict[str, int], by: User) -> dict[Prefix, NewHolding]:
    """Assign the addresses, and return the holdings by prefix. Locks all pools first, in one order."""
    wanted = [
        HoldingDraft(members[line], each.pool.pk, each.prefix, devices.get(each.mac or "", each.device))
        for line, each in _iter_addresses(plan)
    ]
    if not wanted:
        return {}
    lock_pools(*Pool.objects.values_list("pk", flat=True))
    made = holdings_bulk.assign_addresses(wanted=wanted, by=by)
    return {each.prefix: holding for each, holding in zip(wanted, made, strict=True)}


def _map_addresses(plan: ImportPlan, holdings: dict[Prefix, NewHolding], by: User) -> None:
    wanted = [(holdings[each.prefix], each.public) for _line, each in _iter_addresses(plan) if each.leaves]
    if wanted:
        mappings_bulk.map_addresses(wanted=wanted, by=by)


def _add_forwards(plan: ImportPlan, by: User) -> None:
    """Add the forwards. If the database refuses one, add them one by one: that says which, and why."""
    planned = [each for person in plan.people for each in person.holdings.forwards]
    if not planned:
        return
    private = {each.private for each in planned}
    rows = {holding.prefix: holding for holding in Holding.objects.filter(is_valid_now(), prefix__in=private)}
    drafts = [_build_draft(each, rows[each.private]) for each in planned]
    try:
        with transaction.atomic():
            forwards_bulk.add_forwards(wanted=drafts, by=by)
    except IntegrityError:
        for draft in drafts:
            nat.add_forward(**{each.name: getattr(draft, each.name) for each in fields(draft)}, by=by)


def _build_draft(each: PlannedForward, holding: Holding) -> ForwardDraft:
    wanted = each.wanted
    return ForwardDraft(
        holding=holding,
        public=each.public,
        protocol=wanted.protocol,
        public_port=wanted.public_port,
        private_port=wanted.private_port,
        ports=wanted.ports,
        purpose=wanted.purpose,
    )
