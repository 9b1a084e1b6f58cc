"""Members' rates: those of their tariffs, and current rate limits."""

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.deployments.rule_kinds.kind import ElementOrigin, ObjectReader, RuleKind, SetElement, TimedRows, parse_network, parse_row_ids
from apps.deployments.rule_kinds.member_rows import HOLDINGS_CONDITION, HOLDINGS_SQL, build_holdings_condition_parameters
from apps.members.models import Tariff
from apps.traffic.models import RateLimit
from firewall.policy import RateLimitSpec
from firewall.sets import ObjectKind

_OCTETS = "coalesce({of}.up_kbit, 0) * 125, coalesce({of}.down_kbit, 0) * 125"  # per second
_ADDRESS_OR_PREFIX_CONDITION = "h.kind IN ('private4', 'prefix6')"


def _build_rate_limit(pk: int, prefix: str, up: int, down: int, expires: int = 0) -> RateLimitSpec:
    return RateLimitSpec(pk, parse_network(prefix), up, down, expires)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the rate limit or the tariff; the element's comment says which."""
    limits = RateLimit.objects.filter(pk__in=parse_row_ids(found, "rate limit")).select_related("member")
    tariffs = Tariff.objects.filter(pk__in=parse_row_ids(found, "tariff"))
    return [*map(_build_limit_origin, limits), *map(_build_tariff_origin, tariffs)]


def _build_limit_origin(limit: RateLimit) -> ElementOrigin:
    name, url = _("rate limit of %(member)s") % {"member": limit.member}, reverse("desk:member", args=[limit.member_id])
    return ElementOrigin("rate limit", name, limit.get_reason_display(), url, anonymous=_("rate limit of a member"))


def _build_tariff_origin(tariff: Tariff) -> ElementOrigin:
    return ElementOrigin("tariff", _("tariff %(tariff)s") % {"tariff": tariff}, "", reverse("members:tariff", args=[tariff.pk]))


RATES = RuleKind(
    kind=ObjectKind.RATES,
    name=gettext_lazy("Rate limits"),
    count=lambda number: ngettext("%(n)s rate of an address", "%(n)s rates of addresses", number),
    readers={
        "tariff_rates": ObjectReader(
            HOLDINGS_SQL.format(
                columns=f"t.id, h.prefix, {_OCTETS.format(of='t')}",
                join="JOIN members_tariff t ON t.id = m.tariff_id",
                where=f"{_ADDRESS_OR_PREFIX_CONDITION} AND (t.up_kbit IS NOT NULL OR t.down_kbit IS NOT NULL)",
                order="h.prefix",
            ),
            HOLDINGS_CONDITION,
            build_holdings_condition_parameters,
            _build_rate_limit,
        ),
        "rate_limits": ObjectReader(
            HOLDINGS_SQL.format(
                columns=f"r.id, h.prefix, {_OCTETS.format(of='r')},"
                " CASE WHEN upper_inf(r.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(r.valid)))::bigint END",
                join="JOIN traffic_ratelimit r ON r.member_id = m.id",
                where=f"{_ADDRESS_OR_PREFIX_CONDITION} AND r.valid @> %(at)s::timestamptz",
                order="h.prefix",
            ),
            HOLDINGS_CONDITION,
            build_holdings_condition_parameters,
            _build_rate_limit,
        ),
    },
    list_origins=_list_origins,
    timed=(TimedRows("member", "member_id::text", "traffic_ratelimit"),),
)
