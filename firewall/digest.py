"""A digest of a ruleset that does not depend on order, so that a delta can update it.

The digest is the sum, modulo 2**256, of one hash for each thing the ruleset consists of: a chain with its rules, a set's
declaration, a counter, an element, a kernel setting (an additive multiset hash: Bellare and Micciancio, EUROCRYPT '97, AdHash). Values are
hashed as octets (canonical_encoding.py), never as text that a library renders. The digest tells two rulesets apart despite chance
and mistakes; against forgery only the link's own authentication helps.
"""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from firewall.canonical_encoding import encode_canonical
from firewall.diff import Delta
from firewall.policy import Profile
from firewall.profile import build_sysctls
from firewall.ruleset import Chain, Elements, Ruleset, Set, UplinkShaper

MODULUS = 1 << 256
DIGEST_VERSION = 2  # version of the computation, as state files note it: another version gives other digests for the same rulesets


def digest_ruleset(ruleset: Ruleset) -> int:
    """Return the digest of everything in the ruleset, expired elements included (see `subtract_expired_from_digest`)."""
    return (digest_shape(ruleset) + digest_elements(ruleset.elements)) % MODULUS


def digest_shape(ruleset: Ruleset) -> int:
    """Return the digest's part for chains, declarations, counters and kernel settings."""
    total = sum(map(_hash_chain, ruleset.chains.values())) + sum(map(_hash_set, ruleset.sets.values()))
    settings = _hash_profile(ruleset.profile) + _hash_shaper(ruleset.shaper)
    return (total + sum(map(_hash_counter, ruleset.counters)) + settings) % MODULUS


def digest_elements(elements: Mapping[str, Elements]) -> int:
    """Return the digest's part for all elements, by set. The gateways of a group share it."""
    return sum(_hash_elements(name, each) for name, each in elements.items()) % MODULUS


def subtract_expired_from_digest(value: int, ruleset: Ruleset, now: int) -> int:
    """Return the digest as it is at `now` (Unix seconds), from the digest of everything: expired elements are subtracted."""
    expired = (
        _hash_elements(name, {key: element for key, element in ruleset.elements[name].items() if 0 < element.expires <= now})
        for name, declaration in ruleset.sets.items()
        if declaration.timeout
    )
    return (value - sum(expired)) % MODULUS


def update_digest(before: int, delta: Delta) -> int:
    """Return the digest after the delta, from the digest before it. The cost grows with the delta."""
    total = before
    for chain in delta.chains.values():
        total += (_hash_chain(chain.after) if chain.after else 0) - (_hash_chain(chain.before) if chain.before else 0)
    for change in delta.sets.values():
        total += (_hash_set(change.after) if change.after else 0) - (_hash_set(change.before) if change.before else 0)
    for name, (_, removed, added) in delta.elements.items():
        total += _hash_elements(name, added) - _hash_elements(name, removed)
    total += sum(map(_hash_counter, delta.counters.added)) - sum(map(_hash_counter, delta.counters.removed))
    if delta.profile:
        total += _hash_profile(delta.profile.after) - _hash_profile(delta.profile.before)
    if delta.shaper:
        total += _hash_shaper(delta.shaper.after) - _hash_shaper(delta.shaper.before)
    return total % MODULUS


def subtract_expired_from_base_digest(value: int, delta: Delta, now: int) -> int:
    """Do the same as `subtract_expired_from_digest` for the ruleset that the delta starts from, at the cost of the delta.

    Nothing that the delta leads to may have expired at `now`: then expired elements are among those that the delta removes.
    """
    expired = (
        _hash_elements(name, {key: element for key, element in change.removed.items() if 0 < element.expires <= now})
        for name, change in delta.elements.items()
    )
    return (value - sum(expired)) % MODULUS


def format_digest(value: int) -> str:
    """Return the digest as 64 hexadecimal digits."""
    return f"{value:064x}"


def _hash(*parts: str) -> int:
    return _hash_octets("\0".join(parts).encode())


def _hash_octets(octets: bytes) -> int:
    return int.from_bytes(blake2b(octets, digest_size=32).digest())


@lru_cache(maxsize=1 << 12)  # each look at a group hashes the chains of its gateways again, and these hardly ever change
def _hash_chain(chain: Chain) -> int:
    return _hash_octets(b"chain\0" + encode_canonical(chain))


def _hash_set(declaration: Set) -> int:
    return _hash_octets(b"set\0" + encode_canonical(declaration))


def _hash_counter(name: str) -> int:
    return _hash("counter", name)


def _hash_profile(profile: Profile | None) -> int:
    return sum(_hash("sysctl", name, value) for name, value in build_sysctls(profile).items()) if profile else 0


def _hash_shaper(shaper: UplinkShaper | None) -> int:
    return _hash_octets(b"shaper\0" + encode_canonical(shaper)) if shaper else 0


def _hash_elements(name: str, elements: Elements) -> int:
    """Return the sum of the elements' hashes. The set's name is the key of the hash; widths are fixed within a set, so key and
    value cannot run into each other. Texts do not count.

    Copying one hash for each element takes two thirds of the time of making each anew.
    """
    copy = blake2b(digest_size=32, key=name.encode()).copy
    total = 0
    from_bytes = int.from_bytes
    for key, (value, _comment, expires) in elements.items():
        hasher = copy()
        hasher.update(key + value + f"\0{expires}".encode() if expires else key + value)
        total += from_bytes(hasher.digest())
    return total
