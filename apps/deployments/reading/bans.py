"""Bans of the lists that are on."""

from apps.deployments.reading.types import Reading, network
from firewall.policy import Ban


def _ban(pk: int, prefix: str, comment: str, expires: int) -> Ban:
    return Ban(pk, network(prefix), comment, expires)


# A prefix on several lists is one ban in the kernel: with the oldest one's comment, until the last of them ends.
BANS = Reading(
    """
    SELECT min(b.id), b.prefix, (array_agg(b.comment ORDER BY b.id))[1],
        CASE WHEN bool_or(b.expires IS NULL) THEN 0 ELSE ceil(extract(epoch FROM max(b.expires)))::bigint END
    FROM bans_ban b JOIN bans_banlist l ON l.id = b.list_id
    WHERE l.enabled AND (b.expires IS NULL OR b.expires > %(at)s::timestamptz) {only}
    GROUP BY b.prefix ORDER BY b.prefix
    """,
    "AND b.prefix = ANY(%(bans)s::cidr[])",
    lambda touched: {"bans": [str(prefix) for prefix in touched.bans]},
    _ban,
)
