"""Subnets with their host reservations for Kea (Kea Administrator Reference Manual, "Host Reservations in DHCPv4" and "… DHCPv6").

A JSON list, to be included as `subnet4` or `subnet6`. Names that people gave stand in `user-context` alone, which Kea passes on unread.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from apps.desk.handing.hosts import Card, Host
from apps.network.models import Pool


def subnets(pools: Iterable[tuple[Pool, Iterable[Host]]], address: str) -> Iterator[str]:
    """The list, a line for each reservation. address: "ip-address", or "prefixes" where members are delegated a prefix."""
    yield "["
    for place, (pool, hosts) in enumerate(pools):
        yield f'{"," if place else ""}\n{{{_pairs({"id": pool.pk, "subnet": str(pool.prefix)})},\n "reservations": ['
        known = (_reservation(host, host.card, address) for host in hosts if host.card)
        for number, reservation in enumerate(known):
            yield f"{',' if number else ''}\n  {json.dumps(reservation, ensure_ascii=True)}"
        yield "]}"
    yield "\n]\n"


def _pairs(values: dict[str, Any]) -> str:
    return json.dumps(values)[1:-1]


def _reservation(host: Host, card: Card, address: str) -> dict[str, Any]:
    where: Any = [str(host.prefix)] if address == "prefixes" else str(host.prefix.network_address)
    context = {"member": f"M-{host.member}", "device": card.name}
    return {"hw-address": card.mac, address: where, "hostname": f"{card.label}.{host.member_label}", "user-context": context}
