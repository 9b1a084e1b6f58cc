"""Why an address or prefix of a pool cannot be assigned, whoever wants it. Pure, but for the pool's own row."""

from django.utils.translation import gettext as _

from apps.lib.fields import Prefix
from apps.network.kept_free import is_kept_free
from apps.network.models import Pool


def find_refusal(pool: Pool, prefix: Prefix) -> tuple[str, str] | None:
    """Return the reason as a sentence, and the field that it concerns: `pool` or `prefix`. None if the share can be assigned."""
    if pool.retired:
        return explain_retired(pool), "pool"
    if pool.kind == Pool.Kind.PUBLIC4:
        text = _("%(pool)s is a public pool: members get its addresses by NAT mapping, not directly. Choose another pool.")
        return text % {"pool": pool}, "pool"
    if text := _find_prefix_refusal(pool, prefix):
        return text % {"prefix": format_address_or_prefix(prefix), "pool": pool, "length": pool.member_length}, "prefix"
    return None


def _find_prefix_refusal(pool: Pool, prefix: Prefix) -> str:
    """Return what is wrong with a prefix of this pool, as a text with places for the facts; "" if nothing is."""
    if not is_within(prefix, pool.prefix):
        return _("%(prefix)s is not in the pool %(pool)s.")
    if prefix.prefixlen != pool.member_length:
        return _("Members get a /%(length)d from the pool %(pool)s.")
    ends = (pool.prefix.network_address, pool.prefix.broadcast_address)
    if prefix.version == 4 and pool.prefix.prefixlen < 31 and prefix.network_address in ends:
        return _("%(prefix)s is the first or last address of the pool %(pool)s, which is not assigned.")
    if is_kept_free(pool, prefix):
        return _("%(prefix)s is kept free in the pool %(pool)s. Choose another, or change the pool.")
    return ""


def is_within(prefix: Prefix, outer: Prefix) -> bool:
    """True if the prefix is a part of the other one, or equal. Quicker than `subnet_of`, which computes both last addresses."""
    return prefix.prefixlen >= outer.prefixlen and prefix.network_address in outer


def explain_retired(pool: Pool) -> str:
    """Return why a retired pool gives no addresses."""
    return _("%(pool)s is out of service and gives no more addresses. Choose another pool, or take it back into service.") % {"pool": pool}


def format_address_or_prefix(prefix: Prefix) -> str:
    """Format an IPv4 address without its prefix length, an IPv6 prefix with it."""
    return str(prefix.network_address) if prefix.prefixlen == 32 and prefix.version == 4 else str(prefix)
