"""Port forwards of active members."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, ip_address, ip_network
from itertools import groupby
from typing import Any

from django.apps import apps
from django.db.models import F
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.deployments.rule_kinds.event_sources import HOLDING, MEMBER
from apps.deployments.rule_kinds.kind import (
    PROTOCOLS,
    AffectedThing,
    AuthorHistory,
    ChangeNoteFormat,
    ElementOrigin,
    ObjectReader,
    RemovalDefinition,
    RemovedElement,
    RuleKind,
    SetElement,
    TimedRows,
)
from apps.deployments.rule_kinds.member_origins import build_open_port_origin
from apps.deployments.rule_kinds.member_rows import HOLDINGS_SQL
from apps.deployments.rule_kinds.restoring import build_gone_problem, restore_holding
from apps.lib.database.validity import is_valid_now
from apps.nat.models import PortForward
from apps.nat.services import add_forward, change_forward, restore_forward
from firewall import render
from firewall.addresses import format_ipv4
from firewall.policy import ForwardSpec, Port, TouchedKeys, TransportProtocol
from firewall.sets import ObjectKind

_TEXT = "protocol || ' ' || host(public) || ' ' || public_port || ' ' || ports"
_ONLY = """
    AND f.id IN (
        SELECT t.id FROM unnest(%(protocols)s::text[], %(publics)s::inet[], %(firsts)s::int[], %(ends)s::int[])
            asked(protocol, public, first, after)
        JOIN nat_portforward t ON t.public = asked.public AND t.protocol = asked.protocol
            AND int4range(t.public_port, t.public_port + t.ports) && int4range(asked.first, asked.after)
    )
"""
_EVENTS = AuthorHistory(
    "thing",
    "nat_portforwardevent",
    "event.public = thing.public AND event.protocol = thing.protocol"
    " AND int4range(event.public_port, event.public_port + event.ports) && int4range(thing.port, thing.port + thing.ports)",
)


# --- From rows to the policy


def _build_forward(pk: int, protocol: str, public: int, public_port: int, private: int, private_port: int, ports: int) -> ForwardSpec:
    return ForwardSpec(pk, TransportProtocol(protocol), IPv4Address(public), public_port, IPv4Address(private), private_port, ports)


def _build_port_parameters(touched: TouchedKeys) -> dict[str, list[Any]]:
    """Return the touched ports as ranges, because most of them are consecutive."""
    found = list(_iter_port_ranges(touched.ports))
    return {
        "protocols": [str(protocol) for protocol, _public, _first, _after in found],
        "publics": [str(public) for _protocol, public, _first, _after in found],
        "firsts": [first for _protocol, _public, first, _after in found],
        "ends": [after for _protocol, _public, _first, after in found],
    }


def _iter_port_ranges(ports: Iterable[Port]) -> Iterator[tuple[TransportProtocol, IPv4Address, int, int]]:
    """Yield consecutive ports as ranges: protocol, public address, first port, and the port after the last."""
    for _offset, same in groupby(enumerate(sorted(ports)), lambda each: (each[1][:2], each[1][2] - each[0])):
        row = [port for _number, port in same]
        yield (*row[0], row[-1][2] + 1)


def _parse_note(text: str) -> Iterator[Port]:
    """Yield the ports of a note. A note written before port ranges existed has no count."""
    protocol, public, first, count = (*text.split(), "1")[:4]
    of, address = TransportProtocol(protocol), IPv4Address(public)
    return ((of, address, port) for port in range(int(first), int(first) + int(count)))


# --- Removals that wait for approval


def build_key(protocol: str, ports: str, public: str) -> str:
    """Build a key such as TCP 8443 · 198.51.100.7."""
    return f"{protocol} {ports} · {public}"


def _build_thing(element: RemovedElement) -> AffectedThing:
    key = element.key
    public, protocol, port = format_ipv4(key[:4]), PROTOCOLS.get(key[4], str(key[4])), int.from_bytes(key[8:10])
    words = build_key(protocol, str(port), public)
    return AffectedThing(words, f"{format_ipv4(element.value[:4])}/32", words, public, protocol=protocol.lower(), port=port)


def _build_row_key(row: PortForward) -> str:
    return build_key(row.get_protocol_display(), str(row.public_port), str(row.public))


def _restore(thing: AffectedThing, by: User) -> None:
    """Restore all forwards with ports in the thing's range."""
    restore_holding(thing.prefix, by)
    last, first = thing.port + thing.number - 1, thing.port
    rows = PortForward.objects.filter(public=ip_address(thing.public), protocol=thing.protocol, holding__prefix=ip_network(thing.prefix))
    near = rows.filter(public_port__lte=last, public_port__gt=first - PortForward.MOST_PORTS).select_related("holding").order_by("-pk")
    found = _pick_newest(row for row in near if row.last_port >= first)
    if not found:
        _recreate(thing, by)
    for row in found:
        _restore_row(row, by)


def _pick_newest(rows: Iterable[PortForward]) -> list[PortForward]:
    """Return the newest rows that do not overlap in ports; `rows` comes newest first."""
    found: list[PortForward] = []
    for row in rows:
        if not any(row.public_port <= each.last_port and each.public_port <= row.last_port for each in found):
            found.append(row)
    return found


def _restore_row(row: PortForward, by: User) -> None:
    if not PortForward.objects.filter(is_valid_now(), pk=row.pk).exists():
        row.holding = restore_holding(str(row.holding.prefix), by)
        restore_forward(forward=row, by=by)
    elif not row.enabled:
        change_forward(forward=row, version=row.version, private_port=row.private_port, purpose=row.purpose, enabled=True, by=by)


def _recreate(thing: AffectedThing, by: User) -> None:
    """Create a forward of which the row was deleted, from its last event."""
    events = apps.get_model("nat", "PortForwardEvent")._default_manager.filter(public=ip_address(thing.public), protocol=thing.protocol)
    event: Any = events.filter(public_port__gte=thing.port, public_port__lt=thing.port + thing.number, pgh_label="delete")
    gone = {each.pgh_obj_id: each for each in event.order_by("pgh_id")}
    if not gone:
        raise build_gone_problem()
    for each in gone.values():
        holding = restore_holding(thing.prefix, by)
        given = {name: getattr(each, name) for name in ("public", "protocol", "public_port", "private_port", "ports", "purpose")}
        add_forward(holding=holding, until=each.valid.upper, by=by, **given)


# --- From elements back to rows


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    public, protocol, port = map(str, found.keys)
    of = {"public": public, "protocol": render.PROTOCOLS.get(int(protocol), ""), "public_port__lte": int(port)}
    there = PortForward.objects.filter(**of, public_port__gt=int(port) - F("ports"), valid__contains=found.at, enabled=True)
    return [
        build_open_port_origin("forward", _("port forward %(forward)s") % {"forward": each}, each)
        for each in there.select_related("holding__member")
    ]


FORWARDS = RuleKind(
    kind=ObjectKind.FORWARDS,
    name=gettext_lazy("Port forwards"),
    count=lambda number: ngettext("%(n)s forwarded port", "%(n)s forwarded ports", number),
    readers={
        "forwards": ObjectReader(
            HOLDINGS_SQL.format(
                columns="f.id, f.protocol, f.public - '0.0.0.0'::inet, f.public_port, h.prefix - '0.0.0.0'::inet, f.private_port, f.ports",
                join="JOIN nat_portforward f ON f.holding_id = h.id",
                where="f.valid @> %(at)s::timestamptz AND f.enabled",
                order="f.id",
            ),
            _ONLY,
            _build_port_parameters,
            _build_forward,
        )
    },
    list_origins=_list_origins,
    notes=(
        ChangeNoteFormat(
            "forward",
            "ports",
            _parse_note,
            "holding",
            f"SELECT {_TEXT} FROM nat_portforward WHERE holding_id = ANY(%s::bigint[])",  # noqa: S608 - a constant
        ),
    ),
    timed=(TimedRows("forward", _TEXT, "nat_portforward", stays=True),),
    build_thing=_build_thing,
    row_keys={PortForward: _build_row_key},
    removal=RemovalDefinition(
        history="nat.portforward",
        label=lambda number: ngettext("port closes", "ports close", number),
        sentence=lambda members: ngettext("%(n)s member can no longer be reached:", "%(n)s members can no longer be reached:", members),
        undo=gettext_lazy("opens the port forwards again"),
        sources=(HOLDING, MEMBER, _EVENTS),
        restore=_restore,
    ),
)
