"""IPv6 pinholes of active members."""

from collections.abc import Iterator
from ipaddress import IPv6Address, ip_address

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
from apps.nat.pinholes.models import Pinhole
from apps.nat.pinholes.services import restore_pinhole, switch_pinhole
from firewall import render
from firewall.addresses import format_ipv6
from firewall.policy import Hole, PinholeSpec, TransportProtocol
from firewall.sets import ObjectKind

_TEXT = "host(address) || ' ' || protocol || ' ' || port || ' ' || ports"


# --- From rows to the policy


def _build_hole(address: str, protocol: str, port: int, ports: int) -> Hole:
    """Return what a row opens. Port 0 of a row means all ports."""
    what = None if protocol == "all" else TransportProtocol(protocol)
    return Hole(IPv6Address(address), what, port, ports) if port else Hole(IPv6Address(address), what)


def _build_pinhole(pk: int, *opened: object) -> PinholeSpec:
    return PinholeSpec(pk, _build_hole(*opened))  # type: ignore[arg-type]  # the query's columns


def _parse_note(text: str) -> Iterator[Hole]:
    address, protocol, port, ports = text.split()
    yield _build_hole(address, protocol, int(port), int(ports))


# --- Removals that wait for approval


def build_key(protocol: str, ports: str, address: str) -> str:
    """Build a key such as TCP 443 · 2001:db8::7. Without ports: all ports of the protocol; without a protocol: everything."""
    return " · ".join(filter(None, [" ".join(filter(None, [protocol, ports])), address]))


def _build_thing(element: RemovedElement) -> AffectedThing:
    key = element.key
    address, protocol = format_ipv6(key[:16]), PROTOCOLS.get(key[16], str(key[16])) if len(key) > 16 else ""
    words = build_key(protocol, str(int.from_bytes(key[20:22])) if element.set == "pinhole6" else "", address)
    return AffectedThing(words, f"{address}/128", words)


def _build_row_key(row: Pinhole) -> str:
    protocol = "" if row.protocol == Pinhole.Protocol.ALL else row.get_protocol_display()
    return build_key(protocol, str(row.port) if row.port else "", str(row.address))


def _restore(thing: AffectedThing, by: User) -> None:
    rows = Pinhole.objects.filter(address=ip_address(thing.prefix.partition("/")[0])).select_related("holding").order_by("-pk")
    protocol = thing.words.partition(" ")[0].lower() if " " in thing.words else "all"
    row = next((row for row in rows if row.protocol in (protocol, "all") and (not thing.port or row.port <= thing.port)), None)
    if row is None:
        raise build_gone_problem()
    row.holding = restore_holding(str(row.prefix), by)
    if not Pinhole.objects.filter(is_valid_now(), pk=row.pk).exists():
        restore_pinhole(pinhole=row, by=by)
    elif not row.enabled:
        switch_pinhole(pinhole=row, version=row.version, enabled=True, by=by)


# --- From elements back to rows


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the pinhole that opens this port, this protocol, or all of the address."""
    address, *rest = map(str, found.keys)
    there = Pinhole.objects.filter(address=address, valid__contains=found.at, enabled=True)
    there = there.filter(protocol=render.PROTOCOLS.get(int(rest[0]), "") if rest else Pinhole.Protocol.ALL)
    port = int(rest[1]) if rest[1:] else 0
    there = there.filter(port__gte=1, port__lte=port, port__gt=port - F("ports")) if port else there.filter(port=0)
    return [
        build_open_port_origin("pinhole", _("pinhole %(pinhole)s") % {"pinhole": each}, each)
        for each in there.select_related("holding__member").order_by("pk")
    ]


PINHOLES = RuleKind(
    kind=ObjectKind.PINHOLES,
    name=gettext_lazy("IPv6 pinholes"),
    count=lambda number: ngettext("%(n)s IPv6 pinhole", "%(n)s IPv6 pinholes", number),
    readers={
        "pinholes": ObjectReader(
            HOLDINGS_SQL.format(
                columns="p.id, host(p.address), p.protocol, p.port, p.ports",
                join="JOIN nat_pinhole p ON p.holding_id = h.id",
                where="p.valid @> %(at)s::timestamptz AND p.enabled",
                order="p.id",
            ),
            "AND p.address = ANY(%(pinholes)s::inet[])",
            lambda touched: {"pinholes": [str(each.address) for each in touched.holes]},
            _build_pinhole,
        )
    },
    list_origins=_list_origins,
    notes=(
        ChangeNoteFormat(
            "pinhole",
            "holes",
            _parse_note,
            "holding",
            f"SELECT {_TEXT} FROM nat_pinhole WHERE holding_id = ANY(%s::bigint[])",  # noqa: S608 - a constant
        ),
    ),
    timed=(TimedRows("pinhole", _TEXT, "nat_pinhole", stays=True),),
    build_thing=_build_thing,
    row_keys={Pinhole: _build_row_key},
    removal=RemovalDefinition(
        history="nat.pinhole",
        label=lambda number: ngettext("IPv6 pinhole closes", "IPv6 pinholes close", number),
        sentence=lambda members: ngettext("%(n)s member can no longer be reached:", "%(n)s members can no longer be reached:", members),
        undo=gettext_lazy("opens the pinholes again"),
        sources=(HOLDING, MEMBER, AuthorHistory("thing", "nat_pinholeevent", "event.address = host(thing.prefix)::inet")),
        restore=_restore,
        holding_operator=">>=",
    ),
)
