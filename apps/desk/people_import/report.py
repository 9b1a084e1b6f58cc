"""The result of an import or of its dry run as plain data: for pages, the API, commands, and the row that keeps it. Pure."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from apps.desk.people_import.columns import ColumnMeaning
from apps.desk.people_import.known_network import KnownNetwork
from apps.desk.people_import.plan import ImportPlan, PlannedPerson
from apps.desk.people_import.room_plan import SiteKey
from apps.lib.port_ranges import format_port_range
from apps.network.refusals import format_address_or_prefix

EXAMPLES: Final = 200
"""As many of the members that are added, and of those that are changed, are named."""


def build_report(plan: ImportPlan, known: KnownNetwork, header: Sequence[str], meanings: Sequence[ColumnMeaning]) -> dict[str, Any]:
    """Return the result.

    `counts`; `line_count`, of lines with something in them; `problems` with line, column and text, and `problem_count`, because only the
    first ones are listed; `added` and `changed`: the first members of each; `sites` and `rooms` that are made; `skipped`: headers of
    columns that are not read.
    """
    added = [person for person in plan.people if person.member is None][:EXAMPLES]
    changed = [person for person in plan.people if person.member][:EXAMPLES]
    codes: dict[SiteKey, str] = {site.id: site.code for site in known.sites} | {key: site.code for key, site in plan.sites.items()}
    names = _name_references(plan, known, codes, [*added, *changed])
    return {
        "counts": plan.count(),
        "line_count": plan.lines,
        "problem_count": plan.problem_count,
        "problems": [{"line": each.line, "column": each.column, "text": each.text} for each in plan.problems],
        "added": [_describe_person(person, names) for person in added],
        "changed": [_describe_person(person, names) for person in changed],
        "sites": [each.name for each in plan.sites.values()][:EXAMPLES],
        "rooms": [f"{codes[each.site]}-{each.name}" for each in list(plan.rooms.values())[:EXAMPLES]],
        "skipped": [name for name, meaning in zip(header, meanings, strict=False) if meaning == ColumnMeaning.SKIP and name],
    }


type ReferenceNames = dict[tuple[str, object], str]
"""Names of rooms and tariffs, by field and id."""


def _name_references(plan: ImportPlan, known: KnownNetwork, codes: dict[SiteKey, str], people: Sequence[PlannedPerson]) -> ReferenceNames:
    """Return the names of the tariffs, and of the rooms that these people have or get."""
    rooms = {person.values.get("room") for person in people} | {person.member.room for person in people if person.member}
    names: ReferenceNames = {("tariff", each.id): each.name for each in known.tariffs.values()}
    names |= {("room", pk): f"{codes[site]}-{name}" for (site, name), pk in known.rooms.items() if pk in rooms}
    return names | {("room", key): f"{codes[each.site]}-{each.name}" for key, each in plan.rooms.items()}


def _describe_person(person: PlannedPerson, names: ReferenceNames) -> dict[str, Any]:
    """Return a member with what changes: for each field, the value before and after."""
    member, gets = person.member, person.holdings
    more = {
        "device": [f"{device} {mac}" for device, mac in gets.devices],
        "address": [format_address_or_prefix(each.prefix) for each in gets.addresses],
        "forwards": [f"{each.wanted.protocol} {format_port_range(each.wanted.public_port, each.wanted.ports)}" for each in gets.forwards],
    }
    changes = [
        [field, _format(field, getattr(member, field), names) if member else "", _format(field, value, names)]
        for field, value in person.values.items()
        if member or (value and field != "name")
    ]
    return {
        "line": person.line,
        "number": member.number if member else person.number,
        "name": member.name if member else person.values["name"],
        "changes": changes + [[field, "", ", ".join(values)] for field, values in more.items() if values],
    }


def _format(field: str, value: object, names: ReferenceNames) -> str:
    return value.isoformat() if isinstance(value, date) else names.get((field, value)) or str(value or "")
