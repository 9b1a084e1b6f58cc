"""What blocked members hold, and what a group leaves to them."""

from apps.bans.models import Notice as Row
from apps.deployments.desired_state.readers.members import HELD
from apps.deployments.desired_state.readers.reader import Reading, network
from apps.network.models import GatewayGroup
from firewall.policy import Block, Keys, Notice, Protocol, Reachable


def _block(pk: int, prefix: str, expires: int) -> Block:
    return Block(pk, network(prefix), expires)


def touched_holdings(touched: Keys) -> dict[str, list[str]]:
    """The parameters of what is restricted to addresses and prefixes that are `held`."""
    return {"held": [*map(str, touched.addresses), *map(str, touched.prefixes)]}


BLOCKS = Reading(
    HELD.format(
        columns="b.id, h.prefix, CASE WHEN upper_inf(b.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(b.valid)))::bigint END",
        join="JOIN bans_block b ON b.member_id = m.id",
        where="h.kind IN ('private4', 'prefix6') AND b.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    "AND h.prefix = ANY(%(held)s::cidr[])",
    touched_holdings,
    _block,
)


def notice(group: GatewayGroup) -> Notice:
    """What blocked members of the group see and reach."""
    row = Row.objects.filter(group=group).prefetch_related("reachable").first()
    if row is None:
        return Notice()
    reachable = sorted((each.protocol, each.address.version, each.address, each.port) for each in row.reachable.all())
    return Notice(row.ipv4, row.ipv6, row.port, tuple(Reachable(address, Protocol(name), port) for name, _, address, port in reachable))
