"""The list as JSON for programs, and forwards as a table that the import of people reads (apps/desk/people_import)."""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any, Final

from apps.deployments.adoption.listing import GroupListing, UnenteredObject
from apps.lib.database.validity import is_valid_now
from apps.lib.fields import Address
from apps.lib.port_ranges import format_typed_span
from apps.nat.models import NatMapping
from firewall.policy import ForwardSpec

IMPORT_COLUMNS: Final = ("Member number", "Private address", "Public address", "Forwards")

type ImportRow = tuple[int, str, str, str]


def render_listing(group: str, listing: GroupListing) -> dict[str, Any]:
    """Return the list of a group as JSON data."""
    return {
        "group": group,
        "gateways": listing.gateways,
        "not_read": listing.faults,
        "objects": [_render_object(each) for each in listing.objects],
        "only_in_database": {name: {kind.value: number for kind, number in counts.items()} for name, counts in listing.lacking.items()},
        "unreadable_elements": {name: dict(counts) for name, counts in listing.unreadable.items()},
    }


def _render_object(each: UnenteredObject) -> dict[str, Any]:
    entry, request = each.entry, each.entry.request
    return {
        "kind": each.kind.value,
        "object": each.words,
        "member": entry.holder,
        "in_database": each.database,
        "gateways": list(each.gateways),
        "page": entry.page,
        "request": {"method": request.method, "path": request.path, "body": dict(request.body)} if request else None,
        "advice": entry.advice,
    }


def split_forwards(objects: Iterable[UnenteredObject]) -> tuple[list[ImportRow], list[UnenteredObject]]:
    """Return the forwards as lines of a table of people, one for each member, and those that such a table cannot say.

    It cannot if the member is not known or has the forward already in another way, or if the private address does not leave as the
    forward's public one. Of a member with several addresses, it says the forwards of one.
    """
    forwards = [(each, each.objects[0].spec) for each in objects]
    known = _map_numbers([spec for _each, spec in forwards if isinstance(spec, ForwardSpec)])
    lines: dict[int, list[ForwardSpec]] = {}
    others = []
    for each, spec in forwards:
        if isinstance(spec, ForwardSpec):
            number = known.get((spec.private, spec.public), 0) if _is_new(each) else 0
            line = lines.setdefault(number, [])
            if number and all(other.private == spec.private for other in line):
                line.append(spec)
            else:
                others.append(each)
    return [_build_row(number, line) for number, line in sorted(lines.items()) if line], others


def _is_new(each: UnenteredObject) -> bool:
    return each.entry.request is not None and each.entry.request.method == "POST"


def _map_numbers(forwards: Sequence[ForwardSpec]) -> Mapping[tuple[Address, Address], int]:
    """Return the number of the member whose private address leaves as the public one, by both."""
    rows = NatMapping.objects.filter(is_valid_now(), holding__prefix__in={ip_network(each.private) for each in forwards})
    found = rows.values_list("holding__prefix", "public", "holding__member__number")
    return {(prefix.network_address, public): number for prefix, public, number in found}


def _build_row(number: int, line: Sequence[ForwardSpec]) -> ImportRow:
    return number, str(line[0].private), str(line[0].public), ", ".join(map(_render_cell, line))


def _render_cell(forward: ForwardSpec) -> str:
    """Return “tcp 8443 → 443”."""
    public, private = (format_typed_span(first, forward.ports) for first in (forward.public_port, forward.private_port))
    return f"{forward.protocol} {public} → {private}"
