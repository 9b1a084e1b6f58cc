"""Enabled listeners of the network's servers. If one of a host's listeners was touched, all of that host are read."""

from collections.abc import Iterator
from ipaddress import ip_address

from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.bans.listeners.models import Listener
from apps.bans.listeners.services import add_listener
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
)
from apps.deployments.rule_kinds.restoring import get_last_deletion
from firewall import render
from firewall.addresses import format_ipv4, format_ipv6
from firewall.policy import ServerListenerSpec, Service, TouchedKeys, TransportProtocol
from firewall.sets import ObjectKind

_QUERY = """
    SELECT l.id, host(l.address), l.protocol, l.port, l.name, CASE WHEN l.guarded THEN l.window_scale END
    FROM bans_listener l
    WHERE l.group_id = %(group)s AND l.enabled {only} ORDER BY l.id
"""


def _build_listener(pk: int, address: str, protocol: str, port: int, name: str, window_scale: int | None) -> ServerListenerSpec:
    return ServerListenerSpec(pk, ip_address(address), TransportProtocol(protocol), port, name, window_scale)


def _build_host_parameters(touched: TouchedKeys) -> dict[str, list[str]]:
    return {"hosts": [str(address) for _protocol, address, _port in touched.listeners]}


def _parse_note(text: str) -> Iterator[Service]:
    protocol, address, port = text.split()
    yield TransportProtocol(protocol), ip_address(address), int(port)


def _build_thing(element: RemovedElement) -> AffectedThing:
    key, is_ipv4 = element.key, len(element.key) == 12
    address, rest = (format_ipv4(key[:4]), key[4:]) if is_ipv4 else (format_ipv6(key[:16]), key[16:])
    words = f"{PROTOCOLS.get(rest[0], str(rest[0]))} {int.from_bytes(rest[4:6])} · {address}"
    shown = f"{words} ({element.comment})" if element.comment else words
    return AffectedThing(shown, f"{address}/{32 if is_ipv4 else 128}", words)


def _restore(thing: AffectedThing, by: User) -> None:
    address = ip_address(thing.prefix.partition("/")[0])
    off = Listener.objects.filter(address=address, enabled=False)
    if off.exists():
        off.update(enabled=True, version=F("version") + 1)
        return
    event = get_last_deletion("bans", "ListenerEvent", address=address)
    names = ("name", "address", "protocol", "port", "guarded", "window_scale", "note")
    add_listener(group=event.group, by=by, **{name: getattr(event, name) for name in names})


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the listener at this address, protocol and port, or all listeners at a server's address."""
    address, *place = found.keys
    there = Listener.objects.filter(address=str(address), enabled=True).order_by("pk")
    if place:
        protocol, port = map(str, place)
        there = there.filter(protocol=render.PROTOCOLS.get(int(protocol), ""), port=int(port))
    return [_build_origin(each) for each in there]


def _build_origin(listener: Listener) -> ElementOrigin:
    return ElementOrigin("listener", _("listener %(listener)s") % {"listener": listener}, "", reverse("bans:listener", args=[listener.pk]))


LISTENERS = RuleKind(
    kind=ObjectKind.LISTENERS,
    name=gettext_lazy("Listeners"),
    count=lambda number: ngettext("%(n)s listener", "%(n)s listeners", number),
    readers={"listeners": ObjectReader(_QUERY, "AND l.address = ANY(%(hosts)s::inet[])", _build_host_parameters, _build_listener)},
    list_origins=_list_origins,
    notes=(ChangeNoteFormat("listener", "listeners", _parse_note),),
    build_thing=_build_thing,
    removal=RemovalDefinition(
        history="bans.listener",
        label=lambda number: ngettext("listener is removed", "listeners are removed", number),
        sentence=lambda number: ngettext("%(n)s listener is removed:", "%(n)s listeners are removed:", number),
        undo=gettext_lazy("adds the listeners again"),
        sources=(AuthorHistory("thing", "bans_listenerevent", "event.address = host(thing.prefix)::inet"),),
        restore=_restore,
        of_members=False,
    ),
)
