"""The plan of an import: what the lines of a table would change, and every problem in them. Pure.

Rows and what is there come in; members to add and to change come out, with the houses, rooms, devices, addresses and forwards that
they get. An import adds and changes; it never removes anything, ends no membership, and moves no “paid until” back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.desk.people_import.address_plan import AddressPlanner, PlannedHoldings
from apps.desk.people_import.columns import ColumnMeaning
from apps.desk.people_import.known_network import KnownMember, KnownNetwork
from apps.desk.people_import.person_row import CellProblem, PersonRow, PersonRowParser
from apps.desk.people_import.room_plan import RoomKey, RoomPlanner, WantedRoom, WantedSite
from apps.desk.people_import.tables import SheetRow
from apps.lib.email_address import lower_ascii
from apps.lib.errors import Problem
from apps.members.models import Member

MOST_PROBLEMS: Final = 2_000
"""After so many, the table is something else than it seems: the rest is only counted."""


@dataclass(slots=True)
class PlannedPerson:
    """A member to be added (`member` is None) or changed.

    values: the new values by field of `KnownMember`, for a new member all of them; a room is an id or a key of `ImportPlan.rooms`.
    """

    line: int
    member: KnownMember | None
    number: int | None
    values: dict[str, Any]
    holdings: PlannedHoldings


@dataclass(slots=True)
class ImportPlan:
    """What would change. problems: the first ones, in the order of the lines; problem_count: of all. unchanged: members. lines: that
    were read.
    """

    people: list[PlannedPerson] = field(default_factory=list)
    problems: list[CellProblem] = field(default_factory=list)
    problem_count: int = 0
    unchanged: int = 0
    lines: int = 0
    sites: dict[str, WantedSite] = field(default_factory=dict)
    rooms: dict[RoomKey, WantedRoom] = field(default_factory=dict)

    def count(self) -> dict[str, int]:
        """Return the numbers of what would be added and changed."""
        added = [person for person in self.people if person.member is None]
        gets = [person.holdings for person in self.people]
        return {
            "members_added": len(added),
            "members_changed": len(self.people) - len(added),
            "members_unchanged": self.unchanged,
            "sites_added": len(self.sites),
            "rooms_added": len(self.rooms),
            "devices_added": sum(len(each.devices) for each in gets),
            "addresses_added": sum(address.prefix.version == 4 for each in gets for address in each.addresses),
            "prefixes_added": sum(address.prefix.version == 6 for each in gets for address in each.addresses),
            "forwards_added": sum(len(each.forwards) for each in gets),
        }


def make_plan(rows: Iterable[SheetRow], parser: PersonRowParser, known: KnownNetwork, *, create_rooms: bool) -> ImportPlan:
    """Return the plan for these rows. create_rooms: houses and rooms that do not exist are made; otherwise they are problems."""
    planner = _Planner(parser, known, create_rooms=create_rooms)
    for row in rows:
        planner.add(row)
    return planner.plan


class _Planner:
    """Plans line by line, and remembers which members had one."""

    def __init__(self, parser: PersonRowParser, known: KnownNetwork, *, create_rooms: bool) -> None:
        self.plan = ImportPlan()
        self._parser, self._known = parser, known
        self._rooms, self._addresses = RoomPlanner(known, create=create_rooms), AddressPlanner(known)
        self.plan.sites, self.plan.rooms = self._rooms.sites, self._rooms.rooms
        self._by_email: dict[str, tuple[KnownMember, ...]] = {}
        for member in known.members.values():
            if member.email:
                key = lower_ascii(member.email)
                self._by_email[key] = (*self._by_email.get(key, ()), member)
        self._seen: dict[int | str, int] = {}

    def add(self, row: SheetRow) -> None:
        self.plan.lines += 1
        person, problems = self._parser.parse(row)
        if problems:
            self._note(problems)
            return
        try:
            member = self._find_member(person)
        except Problem as problem:
            self._note([self._locate(person, problem)])
            return
        values, found = self._compare(person, member)
        state = values.get("state", member.state if member else Member.State.ACTIVE)
        holdings, more = self._addresses.plan(person, member, stays=state != Member.State.LEFT)
        found += more
        changes_nothing = bool(member) and not (values or holdings.devices or holdings.addresses or holdings.forwards)
        if member and member.erased_at and (found or not changes_nothing):
            found = [Problem(_("The personal data of this member was erased. Add the person as a new member."), "number")]
        self._note([self._locate(person, problem) for problem in found])
        if found:
            return
        if changes_nothing:
            self.plan.unchanged += 1
        else:
            self.plan.people.append(PlannedPerson(person.line, member, person.number, values, holdings))

    def _note(self, problems: list[CellProblem]) -> None:
        self.plan.problem_count += len(problems)
        self.plan.problems += problems[: MOST_PROBLEMS - len(self.plan.problems)]

    def _locate(self, person: PersonRow, problem: Problem) -> CellProblem:
        column = self._parser.get_header(ColumnMeaning(problem.fieldname)) if problem.fieldname else ""
        return CellProblem(person.line, column, str(problem))

    def _find_member(self, row: PersonRow) -> KnownMember | None:
        """Return the member that the line is about, None for a new one. Raises Problem if that is not clear."""
        if row.number is not None:
            member, key = self._known.members.get(row.number), "number"
        elif row.email:
            having = self._by_email.get(lower_ascii(row.email), ())
            found = [each for each in having if each.state != Member.State.LEFT] or list(having)
            if len(found) > 1:
                words = _("Several members have the e-mail %(email)s. Add their numbers to the table.")
                raise Problem(words % {"email": row.email}, "email")
            member, key = (found[0] if found else None), "email"
        else:
            raise Problem(_("This line has neither a member number nor an e-mail, so nobody can tell whom it means."))
        self._demand_once(member.number if member else row.number or lower_ascii(row.email or ""), row.line, key)
        return member

    def _demand_once(self, who: int | str, line: int, key: str) -> None:
        if who in self._seen:
            shown = f"M-{who}" if isinstance(who, int) else who
            raise Problem(_("%(key)s stands in line %(line)d too.") % {"key": shown, "line": self._seen[who]}, key)
        self._seen[who] = line

    def _compare(self, row: PersonRow, member: KnownMember | None) -> tuple[dict[str, Any], list[Problem]]:
        """Return the member's new values, and what is wrong with them."""
        problems: list[Problem] = []
        values: dict[str, Any] = {} if member else self._build_defaults(row, problems)
        told = {name: getattr(row, name) for name in ("name", "email", "language", "since", "note")}
        for name, find in (("tariff", self._find_tariff), ("room", self._find_room), ("state", self._find_state)):
            try:
                told[name] = find(row, member)
            except Problem as problem:
                problems.append(problem)
        values |= {name: value for name, value in told.items() if value is not None and (not member or value != getattr(member, name))}
        if row.paid_until and (member is None or member.paid_until is None or member.paid_until < row.paid_until):
            values["paid_until"] = row.paid_until
        if member and "room" in values and values.get("state", member.state) == Member.State.LEFT:
            problems.append(
                Problem(_("This member has left, and gets no room. Write “active” as the state to bring the member back."), "room")
            )
        return values, problems

    def _build_defaults(self, row: PersonRow, problems: list[Problem]) -> dict[str, Any]:
        """Return the values of a new member about which the line says nothing."""
        if row.name is None:
            problems.append(Problem(_("This member is new, and has no name in this line."), "name"))
        if row.tariff is None and self._known.default_tariff is None:
            problems.append(Problem(_("There is no tariff yet. Add one first."), "tariff"))
        return {
            "email": "",
            "language": self._known.language,
            "tariff": self._known.default_tariff,
            "room": None,
            "state": Member.State.ACTIVE,
            "since": self._known.today,
            "paid_until": None,
            "note": "",
        }

    def _find_room(self, row: PersonRow, member: KnownMember | None) -> int | RoomKey | None:
        return self._rooms.find(row)

    def _find_tariff(self, row: PersonRow, member: KnownMember | None) -> int | None:
        if row.tariff is None:
            return None
        tariff = self._known.tariffs.get(row.tariff.lower())
        if tariff is None:
            known = ", ".join(each.name for each in self._known.tariffs.values()) or _("none yet")
            raise Problem(
                _("There is no tariff “%(tariff)s”. There are: %(known)s.") % {"tariff": row.tariff[:60], "known": known}, "tariff"
            )
        if not tariff.offered and (member is None or member.tariff != tariff.id):
            raise Problem(_("The tariff %(tariff)s is not offered any more. Choose another.") % {"tariff": tariff.name}, "tariff")
        return tariff.id

    def _find_state(self, row: PersonRow, member: KnownMember | None) -> str | None:
        """Return the new state: an import activates members, and ends no membership."""
        if row.state is None or row.state == Member.State.ACTIVE or (member and row.state == member.state):
            return row.state
        if member is None and row.state == Member.State.PENDING:
            return row.state
        if member is None:
            raise Problem(_("This person is not known and has left already. Leave the line out."), "state")
        if row.state == Member.State.LEFT:
            raise Problem(_("An import ends no membership. End it on the member’s page, or empty the cell."), "state")
        raise Problem(_("M-%(number)d was active already and cannot become pending again.") % {"number": member.number}, "state")
