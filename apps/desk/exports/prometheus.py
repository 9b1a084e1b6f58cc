"""Targets for Prometheus (Prometheus documentation, "file_sd_config"), to be probed over TCP by its blackbox exporter.

One file has the gateways' management addresses, where they are reached by ssh; the other has the probe targets of the groups, one
for each IP version.
"""

import json
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from django.db.models import QuerySet

from apps.network.models import Gateway, GatewayGroup


def render_gateway_targets() -> Iterator[str]:
    """Render the management address of each gateway."""
    known = Gateway.objects.exclude(address=None).select_related("group").order_by("group__name", "name")
    yield _render_json(
        [
            {
                "targets": [_format_target(each.address, each.management_port)],
                "labels": {
                    "netzwart": "gateway",
                    "gateway": each.name,
                    "group": each.group.name,
                    "ipv4_primary": str(int(each.carries4)),
                    "ipv6_primary": str(int(each.carries6)),
                },
            }
            for each in known
        ]
    )


def render_probes() -> Iterator[str]:
    """Render the probe targets of each group."""
    found = []
    for group in GatewayGroup.objects.exclude(probe_port=None).order_by("name"):
        for address in (group.probe_target4, group.probe_target6):
            if address is not None:
                labels = {"netzwart": "probe", "group": group.name, "family": f"ipv{address.version}"}
                found.append({"targets": [_format_target(address, group.probe_port)], "labels": labels})
    yield _render_json(found)


def list_source_rows() -> list[QuerySet[Any, Any]]:
    """Return querysets of all rows that both files depend on."""
    return [Gateway.objects.values_list(), GatewayGroup.objects.values_list()]


def _format_target(address: IPv4Address | IPv6Address, port: int | None) -> str:
    return f"{address}:{port}" if address.version == 4 else f"[{address}]:{port}"


def _render_json(found: list[dict[str, Any]]) -> str:
    return json.dumps(found, indent=1, sort_keys=True) + "\n"
