"""All rules that judge a gateway's health. Each module has one, named RULE, with its thresholds and texts."""

from typing import Final

from apps.gateways.health.rule import HealthRule
from apps.gateways.health.rules import (
    backlog_drops,
    busy_core,
    clock_offset,
    connections_dropped,
    connections_full,
    disk_full,
    hot,
    insert_failures,
    link_down,
    link_errors,
    link_full,
    listen_overflows,
    memory_low,
    no_address,
    no_route,
    not_forwarding,
    packets_dropped,
    portless,
    routing_loop,
    set_full,
    slow_link,
    spoofed_sources,
    untranslated,
)

MODULES: Final = (
    not_forwarding,
    link_down,
    no_address,
    no_route,
    untranslated,
    busy_core,
    backlog_drops,
    connections_full,
    connections_dropped,
    insert_failures,
    portless,
    set_full,
    routing_loop,
    link_full,
    slow_link,
    link_errors,
    packets_dropped,
    listen_overflows,
    spoofed_sources,
    clock_offset,
    memory_low,
    disk_full,
    hot,
)
RULES: Final[dict[str, HealthRule]] = {module.RULE.name: module.RULE for module in MODULES}
"""By name, the most urgent first."""
