"""Why an address or prefix of a pool cannot be assigned, whoever wants it. Pure, but for the pool's own row."""

from django.utils.translation import gettext as _

from apps.lib.fields import Prefix
from apps.network.kept_free import is_kept
from apps.network.models import Pool


def find_refusal(pool: Pool, prefix: Prefix) -> tuple[str, str] | None:
    """Return the reason as a sentence, and the field that it concerns: `pool` or `prefix`. None if the share can be assigned."""
    facts = {"prefix": format_share(prefix), "pool": pool, "length": pool.member_length}
    if pool.retired:
        return explain_retired(pool), "pool"
    if pool.kind == Pool.Kind.PUBLIC4:
        text = _("%(pool)s is a public pool: members get its addresses by NAT mapping, not directly. Choose another pool.")
        return text % facts, "pool"
    if prefix.version != pool.prefix.version or not prefix.subnet_of(pool.prefix):
        return _("%(prefix)s is not in the pool %(pool)s.") % facts, "prefix"
    if prefix.prefixlen != pool.member_length:
        return _("Members get a /%(length)d from the pool %(pool)s.") % facts, "prefix"
    if prefix.version == 4 and pool.prefix.prefixlen < 31 and prefix[0] in (pool.prefix[0], pool.prefix[-1]):
        return _("%(prefix)s is the first or last address of the pool %(pool)s, which is not assigned.") % facts, "prefix"
    if is_kept(pool, prefix):
        return _("%(prefix)s is kept free in the pool %(pool)s. Choose another, or change the pool.") % facts, "prefix"
    return None


def explain_retired(pool: Pool) -> str:
    """Return why a retired pool gives no addresses."""
    return _("%(pool)s is out of service and gives no more addresses. Choose another pool, or take it back into service.") % {"pool": pool}


def format_share(prefix: Prefix) -> str:
    """Format an IPv4 address without its prefix length, an IPv6 prefix with it."""
    return str(prefix[0]) if prefix.prefixlen == 32 and prefix.version == 4 else str(prefix)
