"""Elements of rate limits: members' addresses and prefixes, each with its octets a second in each limited direction."""

from collections.abc import Iterable

from firewall.elements.types import ElementsBySet, KeysBySet, parse_prefix_key, parse_row_id
from firewall.elements.unique import check_unique
from firewall.policy import Policy, PolicyError, Prefix, RateLimitSpec, TouchedKeys
from firewall.ruleset import HIGHEST_RATE, LOWEST_RATE, RATE_WIDTH, Element, cap_expiry
from firewall.sets import format_set_name

TARIFF, NOW = "tariff", "rate"


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when an address or prefix is limited twice, or a rate is out of range."""
    return _build_rate_elements(TARIFF, policy.tariff_rates) | _build_rate_elements(NOW, policy.rate_limits)


def _build_rate_elements(start: str, limits: Iterable[RateLimitSpec]) -> ElementsBySet:
    sets: ElementsBySet = {}
    listed = list(limits)
    for limit in listed:
        for way, rate in (("up", limit.up), ("down", limit.down)):
            if rate:
                element = Element(_pack_rate(limit, rate), f"{_MADE_BY[start]} {limit.id}", cap_expiry(limit.expires))
                sets.setdefault(_get_set_name(f"{start}_{way}", limit.prefix), {})[limit.prefix.network_address.packed] = element
    check_unique(f"{_MADE_BY[start]} for", [limit.prefix for limit in listed], {limit.prefix for limit in listed})
    return sets


_MADE_BY = {TARIFF: "tariff", NOW: "rate limit"}


def _pack_rate(limit: RateLimitSpec, rate: int) -> bytes:
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise PolicyError(f"rate of {limit.prefix}: {rate} octets a second is not between {LOWEST_RATE} and {HIGHEST_RATE}")
    return rate.to_bytes(RATE_WIDTH)


def _get_set_name(start: str, prefix: Prefix) -> str:
    return f"{start}4" if prefix.version == 4 else format_set_name(f"{start}6", prefix.prefixlen)


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that rate limits of the touched addresses and prefixes would have."""
    found: KeysBySet = {}
    for start in (f"{made}_{way}" for made in _MADE_BY for way in ("up", "down")):
        found[f"{start}4"] = {address.packed for address in touched.addresses}
        for prefix in touched.prefixes:
            found.setdefault(_get_set_name(start, prefix), set()).add(prefix.network_address.packed)
    return found


def is_tariff_set(name: str) -> bool:
    """True for a set of tariffs' rates, False for one of limits that hold for a time."""
    return name.startswith(TARIFF)


def parse_element(name: str, key: bytes, element: Element) -> RateLimitSpec:
    """Return the limit in one direction that an element is, with the id from its comment. Raises ValueError."""
    row = parse_row_id(element, _MADE_BY[TARIFF if is_tariff_set(name) else NOW])
    rate, prefix = int.from_bytes(element.value), parse_prefix_key(name, key)
    up, down = (rate, 0) if "_up" in name else (0, rate)
    return RateLimitSpec(row, prefix, up, down, element.expires)
