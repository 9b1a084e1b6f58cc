"""Members whose rate is limited: each of their addresses and prefixes, with what may come through it a second, each way it is limited."""

from collections.abc import Iterable

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Keys, Policy, PolicyError, Prefix, RateLimit
from firewall.ruleset import HIGHEST_RATE, LOWEST_RATE, RATE_WIDTH, Element, lasting
from firewall.sets import of_length

TARIFF, NOW = "tariff", "rate"


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when an address or prefix is limited twice, or by a rate that is none."""
    return _elements(TARIFF, policy.tariff_rates) | _elements(NOW, policy.rate_limits)


def _elements(start: str, limits: Iterable[RateLimit]) -> ElementsBySet:
    sets: ElementsBySet = {}
    listed = list(limits)
    for limit in listed:
        for way, rate in (("up", limit.up), ("down", limit.down)):
            if rate:
                element = Element(_value(limit, rate), f"{_MADE_BY[start]} {limit.id}", lasting(limit.expires))
                sets.setdefault(_set(start + way, limit.prefix), {})[limit.prefix.network_address.packed] = element
    all_different(f"{_MADE_BY[start]} for", [limit.prefix for limit in listed], {limit.prefix for limit in listed})
    return sets


_MADE_BY = {TARIFF: "tariff", NOW: "rate limit"}


def _value(limit: RateLimit, rate: int) -> bytes:
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise PolicyError(f"rate of {limit.prefix}: {rate} octets a second are not between {LOWEST_RATE} and {HIGHEST_RATE}")
    return rate.to_bytes(RATE_WIDTH)


def _set(start: str, prefix: Prefix) -> str:
    return f"{start}4" if prefix.version == 4 else of_length(f"{start}6", prefix.prefixlen)


def keys(touched: Keys) -> KeysBySet:
    """Where the touched addresses and prefixes are limited, if they are."""
    found: KeysBySet = {}
    for start in (f"{made}{way}" for made in _MADE_BY for way in ("up", "down")):
        found[f"{start}4"] = {address.packed for address in touched.addresses}
        for prefix in touched.prefixes:
            found.setdefault(_set(start, prefix), set()).add(prefix.network_address.packed)
    return found
