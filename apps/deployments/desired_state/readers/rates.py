"""Reads members' rates: those of their tariffs, and current rate limits."""

from apps.deployments.desired_state.readers.blocks import build_holding_parameters
from apps.deployments.desired_state.readers.members import HELD
from apps.deployments.desired_state.readers.reader import ObjectReader, parse_network
from apps.network.models import GatewayGroup, Uplink
from firewall.policy import RateLimitSpec

_OCTETS = "coalesce({of}.up_kbit, 0) * 125, coalesce({of}.down_kbit, 0) * 125"  # per second
_HELD = "h.kind IN ('private4', 'prefix6')"
_ONLY = "AND h.prefix = ANY(%(held)s::cidr[])"


def _build_rate_limit(pk: int, prefix: str, up: int, down: int, expires: int = 0) -> RateLimitSpec:
    return RateLimitSpec(pk, parse_network(prefix), up, down, expires)


TARIFFS = ObjectReader(
    HELD.format(
        columns=f"t.id, h.prefix, {_OCTETS.format(of='t')}",
        join="JOIN members_tariff t ON t.id = m.tariff_id",
        where=f"{_HELD} AND (t.up_kbit IS NOT NULL OR t.down_kbit IS NOT NULL)",
        order="h.prefix",
    ),
    _ONLY,
    build_holding_parameters,
    _build_rate_limit,
)
NOW = ObjectReader(
    HELD.format(
        columns=f"r.id, h.prefix, {_OCTETS.format(of='r')},"
        " CASE WHEN upper_inf(r.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(r.valid)))::bigint END",
        join="JOIN traffic_ratelimit r ON r.member_id = m.id",
        where=f"{_HELD} AND r.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    _ONLY,
    build_holding_parameters,
    _build_rate_limit,
)


def is_limiting_off(group: GatewayGroup) -> bool:
    """True if an uplink of the group has rate limits switched off."""
    return Uplink.objects.filter(group=group, limits_rates=False).exists()
