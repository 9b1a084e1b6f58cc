"""Subnets with host reservations for Kea (Kea Administrator Reference Manual, "Host Reservations in DHCPv4" and "… DHCPv6").

A JSON list, to be included as `subnet4` or `subnet6`. Names that people gave are in `user-context` only, which Kea does not
interpret.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from apps.desk.exports.device_addresses import ExportDevice, ExportHost
from apps.lib.fields import Prefix
from apps.network.models import Pool

type PrefixesByMac = Mapping[str, Sequence[Prefix]]


def render_subnets(pools: Iterable[tuple[Pool, Iterable[ExportHost], PrefixesByMac]], address: str) -> Iterator[str]:
    """Yield the JSON list, with one line per reservation.

    address: "ip-address", or "prefixes" where members are delegated a prefix. Each pool comes with its hosts by address, and with
    all prefixes of each device that has more than one in it. Kea refuses a second reservation of a MAC address in a subnet, so
    there is one, with all prefixes or with the first address.
    """
    yield "["
    for place, (pool, hosts, several) in enumerate(pools):
        yield f'{"," if place else ""}\n{{{_render_pairs({"id": pool.pk, "subnet": str(pool.prefix)})},\n "reservations": ['
        known = (each for host in hosts if host.card and (each := _build_reservation(host, host.card, several, address)))
        for number, reservation in enumerate(known):
            yield f"{',' if number else ''}\n  {json.dumps(reservation, ensure_ascii=True)}"
        yield "]}"
    yield "\n]\n"


def _render_pairs(values: dict[str, Any]) -> str:
    return json.dumps(values)[1:-1]


def _build_reservation(host: ExportHost, card: ExportDevice, several: PrefixesByMac, address: str) -> dict[str, Any]:
    """Return the reservation; empty if the device's first address has it already."""
    mine = several.get(card.mac, (host.prefix,))
    if mine[0] != host.prefix:
        return {}
    where: Any = [str(each) for each in mine] if address == "prefixes" else str(host.prefix.network_address)
    context = {"member": f"M-{host.member}", "device": card.name}
    return {"hw-address": card.mac, address: where, "hostname": f"{card.label}.{host.member_label}", "user-context": context}
