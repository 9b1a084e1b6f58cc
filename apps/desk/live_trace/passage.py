"""Passages of packets through the kernel, for the page and the command: each packet's path, chain by chain, and its fate.

Takes the events of firewall.live_trace.Seen; returns values with texts. Contacts no gateway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.urls import reverse
from django.utils.http import urlencode

from apps.deployments.rule_kinds.kind import ElementOrigin
from apps.deployments.rule_kinds.member_origins import list_address_holders
from apps.desk.live_trace import live_trace_texts
from apps.desk.packet_trace.form import RUNS
from apps.desk.packet_trace.packet_trace_texts import VerdictText
from apps.desk.packet_trace.path import PathSection, RuleLine
from apps.desk.packet_trace.question import INTERFACES, TracedPacket, find_interface
from apps.lib.fields import Address, Prefix
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway
from firewall.live_trace import COMES, Event, Headers
from firewall.tracing.packet import ICMP, ICMPV6, TCP, UDP

_ASKED_AS = {TCP: "tcp", UDP: "udp", ICMP: "icmp", ICMPV6: "icmp"}


@dataclass(frozen=True, slots=True)
class PacketPassage:
    """One packet's passage.

    packet: as it arrived through `came`; things: the members at its ends; why: URL of the packet trace for the same packet.
    """

    number: int
    packet: str
    came: str
    fate: VerdictText
    stops: list[PathSection]
    things: list[ElementOrigin]
    why: str


def list_passages(gateway: Gateway, events: Iterable[Event], at: datetime) -> list[PacketPassage]:
    """Return the packets in the order in which they arrived."""
    by_packet: dict[int, list[Event]] = {}
    for event in events:
        by_packet.setdefault(event.packet, []).append(event)
    known = _HolderLookup([pool.prefix for pool in gateway.group.pools.all()], at)
    return [_build_passage(gateway, number, told, known) for number, told in sorted(by_packet.items())]


def _build_passage(gateway: Gateway, number: int, told: Sequence[Event], known: "_HolderLookup") -> PacketPassage:
    first, seen = told[0], [event.headers for event in told if event.headers]
    things = [thing for address in _list_ends(seen) for thing in known.list_holders(address)]
    packet = live_trace_texts.render_headers(seen[0]) if seen else ""
    return PacketPassage(
        number, packet, first.came, live_trace_texts.describe_fate(told), list_passage_stops(told), things, _build_why_url(gateway, first)
    )


def _list_ends(seen: Sequence[Headers]) -> list[Address]:
    """Return the original source and the final destination."""
    return list(dict.fromkeys([seen[0].source, seen[-1].destination])) if seen else []


class _HolderLookup:
    """Cache of the holders of addresses, with one lookup per address."""

    def __init__(self, pools: Sequence[Prefix], at: datetime) -> None:
        self._pools, self._at = pools, at
        self._known: dict[Address, list[ElementOrigin]] = {}

    def list_holders(self, address: Address) -> list[ElementOrigin]:
        if address not in self._known:
            inside = any(address in pool for pool in self._pools)
            self._known[address] = list_address_holders(address, self._at) if inside else []
        return self._known[address]


def list_passage_stops(told: Sequence[Event]) -> list[PathSection]:
    """Return one stop for each stretch of a chain, with the packet after it where it was rewritten."""
    by_rules = (event for event in told if not event.mark)
    stretches = [list(stretch) for _chain, stretch in groupby(by_rules, lambda event: (event.table, event.chain))]
    rewritten = _map_rewrites(told)
    return [_build_stop(number, stretch, rewritten, ends=stretch[-1] is told[-1]) for number, stretch in enumerate(stretches, 1)]


def _build_stop(number: int, stretch: list[Event], rewritten: dict[int, str], *, ends: bool) -> PathSection:
    first, last = stretch[0], stretch[-1]
    decides = ends and last.verdict == "drop"
    packet = next((rewritten[id(event)] for event in stretch if id(event) in rewritten), "")
    lines = [
        RuleLine(event.number, True, live_trace_texts.render_rule(event), "", live_trace_texts.describe_effect(event), [])
        for event in stretch
    ]
    kind = StateKind.BAD if decides else StateKind.MOVING if packet else ""
    return PathSection(number, first.chain, live_trace_texts.describe_hook(first), lines, packet, kind, decides)


def _map_rewrites(told: Sequence[Event]) -> dict[int, str]:
    """Return the packet after the rule that rewrote it, by the id() of the rule's event."""
    found: dict[int, str] = {}
    known, since = None, None
    for event in told:
        if event.headers:
            if known and since is not None and live_trace_texts.render_ends(event.headers) != live_trace_texts.render_ends(known):
                found[id(since)] = live_trace_texts.render_ends(event.headers)
            known, since = event.headers, None
        if not event.policy and not event.mark and event.hook in ("prerouting", "postrouting"):
            since = event
    return found


def _build_why_url(gateway: Gateway, first: Event) -> str:
    """Return the URL of the page “Why?” for such a packet; "" for a packet that the page cannot trace."""
    headers = first.headers
    if first.mark != COMES or headers is None or headers.protocol not in _ASKED_AS:
        return ""
    card = next((side for side in INTERFACES if find_interface(gateway, side) == first.came), "")
    asked: dict[str, str | int] = {
        "gateway": gateway.name,
        "protocol": _ASKED_AS[headers.protocol],
        "source": str(headers.source),
        "source_port": headers.source_port,
        "destination": str(headers.destination),
        "port": headers.destination_port,
        "interface": card,
        "way": (TracedPacket.NEXT if headers.protocol == TCP and "syn" not in headers.flags else TracedPacket.FIRST).value,
        "ruleset": RUNS,
    }
    return f"{reverse('desk:why')}?{urlencode({name: value for name, value in asked.items() if value})}"
