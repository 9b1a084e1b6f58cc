"""Reads the addresses and prefixes of blocked members, and a group's settings of the notice page."""

from apps.bans.models import Notice as Row
from apps.deployments.desired_state.readers.members import HELD
from apps.deployments.desired_state.readers.reader import ObjectReader, parse_network
from apps.network.models import GatewayGroup
from firewall.policy import BlockSpec, NoticeSpec, PolicyKeys, ReachableService, TransportProtocol


def _build_block(pk: int, prefix: str, expires: int) -> BlockSpec:
    return BlockSpec(pk, parse_network(prefix), expires)


def build_holding_parameters(touched: PolicyKeys) -> dict[str, list[str]]:
    """Return the parameters of queries that are restricted to touched addresses and prefixes (`held`)."""
    return {"held": [*map(str, touched.addresses), *map(str, touched.prefixes)]}


BLOCKS = ObjectReader(
    HELD.format(
        columns="b.id, h.prefix, CASE WHEN upper_inf(b.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(b.valid)))::bigint END",
        join="JOIN bans_block b ON b.member_id = m.id",
        where="h.kind IN ('private4', 'prefix6') AND b.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    "AND h.prefix = ANY(%(held)s::cidr[])",
    build_holding_parameters,
    _build_block,
)


def read_notice(group: GatewayGroup) -> NoticeSpec:
    """Read what blocked members of the group see and can still reach."""
    row = Row.objects.filter(group=group).prefetch_related("reachable").first()
    if row is None:
        return NoticeSpec()
    reachable = sorted((each.protocol, each.address.version, each.address, each.port) for each in row.reachable.all())
    return NoticeSpec(
        row.ipv4,
        row.ipv6,
        row.port,
        tuple(ReachableService(address, TransportProtocol(name), port) for name, _, address, port in reachable),
    )
