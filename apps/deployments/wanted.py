"""What a group's gateways should run: a snapshot, compiled."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from apps.deployments import snapshot
from apps.network.models import GatewayGroup
from firewall.compile import assemble, elements_of
from firewall.diff import Delta, diff
from firewall.digest import MODULUS, at, digest_elements, digest_shape, text
from firewall.policy import Gateway
from firewall.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Change:
    """The way to a ruleset from the one that was computed before it."""

    base: Ruleset
    delta: Delta


@dataclass(frozen=True, slots=True)
class Wanted:
    """Per gateway id: what it is compiled for, the ruleset, its digest of everything, and the digest (as text) it has at `snapshot.now`.

    deltas: where the ruleset was made from an earlier one, the way from that.
    """

    snapshot: snapshot.Snapshot
    gateways: Mapping[int, Gateway]
    rulesets: Mapping[int, Ruleset]
    digests: Mapping[int, int]
    targets: Mapping[int, str]
    deltas: Mapping[int, Change] = field(default_factory=dict)


def way(before: Ruleset, after: Ruleset, change: Change | None) -> Delta:
    """What makes `after` out of `before`: at hand when `after` was made from it, else found by comparing."""
    if before is after:
        return Delta()
    return change.delta if change and change.base is before else diff(before, after)


def want(group: GatewayGroup) -> Wanted:
    """Read, compile and digest. The gateways share their elements, which are nearly everything.

    Raises PolicyError when what the database asks for must not be deployed.
    """
    taken = snapshot.take(group)
    if not taken.policies:
        return Wanted(taken, {}, {}, {}, {})
    elements = elements_of(next(iter(taken.policies.values())))
    rulesets = {pk: assemble(policy.gateway, elements) for pk, policy in taken.policies.items()}
    shared = digest_elements(elements)
    digests = {pk: (digest_shape(ruleset) + shared) % MODULUS for pk, ruleset in rulesets.items()}
    targets = {pk: text(at(digests[pk], ruleset, taken.now)) for pk, ruleset in rulesets.items()}
    gateways = {pk: policy.gateway for pk, policy in taken.policies.items()}
    return Wanted(taken, gateways, rulesets, digests, targets)
