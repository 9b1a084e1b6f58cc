"""Reads the bans of enabled lists, and the allow list."""

from apps.deployments.desired_state.readers.reader import ObjectReader, parse_network
from firewall.policy import AllowEntrySpec, BanDirection, BanSpec


def _build_ban(pk: int, prefix: str, comment: str, expires: int, direction: str) -> BanSpec:
    return BanSpec(pk, parse_network(prefix), comment, expires, BanDirection(direction))


def _build_allowed(pk: int, prefix: str, comment: str, expires: int) -> AllowEntrySpec:
    return AllowEntrySpec(pk, parse_network(prefix), comment, expires)


_ENDS = "CASE WHEN bool_or(b.expires IS NULL) FILTER {way} THEN 0 ELSE ceil(extract(epoch FROM max(b.expires) FILTER {way}))::bigint END"

# A prefix on several lists is one ban in the kernel: with the comment of the oldest, in all their directions, each until the last
# of them ends. Two directions with different ends are two elements, so that each expires by itself.
BANS = ObjectReader(
    f"""
    SELECT g.id, g.prefix, g.comment, way.ends, way.direction FROM (
        SELECT min(b.id) AS id, b.prefix, (array_agg(b.comment ORDER BY b.id))[1] AS comment,
            {_ENDS.format(way="(WHERE b.direction <> 'out')")} AS ends_in, {_ENDS.format(way="(WHERE b.direction <> 'in')")} AS ends_out
        FROM bans_ban b JOIN bans_banlist l ON l.id = b.list_id
        WHERE l.enabled AND (b.expires IS NULL OR b.expires > %(at)s::timestamptz) {{only}}
        GROUP BY b.prefix
    ) g, LATERAL (
        SELECT 'both', ends_in WHERE ends_in = ends_out
        UNION ALL SELECT 'in', ends_in WHERE ends_in IS DISTINCT FROM ends_out AND ends_in IS NOT NULL
        UNION ALL SELECT 'out', ends_out WHERE ends_in IS DISTINCT FROM ends_out AND ends_out IS NOT NULL
    ) way(direction, ends) ORDER BY g.prefix, way.direction
    """,  # noqa: S608 - constants
    "AND b.prefix = ANY(%(bans)s::cidr[])",
    lambda touched: {"bans": [str(prefix) for prefix in touched.bans]},
    _build_ban,
)
ALLOWED = ObjectReader(
    """
    SELECT e.id, e.prefix, e.comment, coalesce(ceil(extract(epoch FROM e.expires))::bigint, 0) FROM bans_allowentry e
    WHERE (e.expires IS NULL OR e.expires > %(at)s::timestamptz) {only} ORDER BY e.prefix
    """,
    "AND e.prefix = ANY(%(allowed)s::cidr[])",
    lambda touched: {"allowed": [str(prefix) for prefix in touched.allowed]},
    _build_allowed,
)
