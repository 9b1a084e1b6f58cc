"""What a group's gateways should run, compiled: from a snapshot of everything, or from what it was and what changed since.

Both ways give the same, and share what they can: the gateways of a group their elements, and what follows upon a change all sets that
it left alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from apps.deployments.desired_state import policy_snapshot
from apps.network.models import GatewayGroup
from firewall.compile import assemble, change_elements, change_shape
from firewall.diff import Delta, ElementChange, apply, diff
from firewall.digest import MODULUS, digest_elements, digest_shape, text, update
from firewall.elements import elements_of
from firewall.policy import Gateway
from firewall.ruleset import Elements, Ruleset


@dataclass(frozen=True, slots=True)
class Change:
    """The way to a wanted ruleset from one that this process compiled before: worth something to whoever knows that very object."""

    base: Ruleset
    delta: Delta


@dataclass(frozen=True, slots=True)
class Wanted:
    """Per gateway id: the gateway, its ruleset, its digest of everything, and that digest as text.

    Nothing in the rulesets has expired at `snapshot.now`, so the digest is also the one that gateways have at that time.
    deltas: the last change, where the ruleset came about by one. amends: by what the short way was wrong, where it was.
    """

    snapshot: policy_snapshot.Moment
    gateways: dict[int, Gateway]
    rulesets: dict[int, Ruleset]
    digests: dict[int, int]
    targets: dict[int, str]
    deltas: dict[int, Change] = field(default_factory=dict)
    amends: dict[int, Delta] = field(default_factory=dict)


def way(before: Ruleset, after: Ruleset, change: Change | None) -> Delta:
    """What makes `after` out of `before`: at hand when `after` was made from it, else found by comparing."""
    if before is after:
        return Delta()
    return change.delta if change and change.base is before else diff(before, after)


def want(group: GatewayGroup, at: datetime | None = None) -> Wanted:
    """Read everything, compile and digest it. at: as if it were then.

    Raises PolicyError when what the database asks for must not be deployed.
    """
    return compiled(policy_snapshot.take(group, at))


def compiled(taken: policy_snapshot.Snapshot) -> Wanted:
    """What the snapshot asks for. Raises PolicyError."""
    if not taken.policies:
        return Wanted(taken.moment, {}, {}, {}, {})
    elements = elements_of(next(iter(taken.policies.values())))
    rulesets = {pk: assemble(policy.gateway, elements) for pk, policy in taken.policies.items()}
    shared = digest_elements(elements)
    digests = {pk: (digest_shape(ruleset) + shared) % MODULUS for pk, ruleset in rulesets.items()}
    return _wanted(taken, rulesets, digests)


def changed(before: Wanted, by: policy_snapshot.Changed) -> Wanted | None:
    """What was wanted, with what changed since. None when there are other gateways than before. Raises PolicyError."""
    if by.policies.keys() != before.rulesets.keys():
        return None
    if not by.policies:
        return replace(before, snapshot=by.moment)
    one = next(iter(by.policies))
    changes = change_elements(before.rulesets[one], by.touched, elements_of(by.policies[one]))
    deltas = {pk: change_shape(before.rulesets[pk], policy.gateway, changes) for pk, policy in by.policies.items()}
    if not any(deltas.values()):
        return replace(before, snapshot=by.moment, gateways={pk: policy.gateway for pk, policy in by.policies.items()}, amends={})
    after = _afterwards(before.rulesets[one], changes)
    rulesets = {pk: apply(before.rulesets[pk], delta, after) for pk, delta in deltas.items()}
    digests = {pk: update(before.digests[pk], delta) for pk, delta in deltas.items()}
    return _wanted(by, rulesets, digests, {pk: Change(before.rulesets[pk], delta) for pk, delta in deltas.items()})


def _afterwards(running: Ruleset, changes: Mapping[str, ElementChange]) -> dict[str, Elements]:
    """What the changed sets hold after the change, once for all gateways."""
    return {name: change.apply(running.elements.get(name, {})) for name, change in changes.items()}


def _wanted(
    taken: policy_snapshot.Snapshot, rulesets: dict[int, Ruleset], digests: dict[int, int], deltas: dict[int, Change] | None = None
) -> Wanted:
    gateways = {pk: policy.gateway for pk, policy in taken.policies.items()}
    targets = {pk: text(value) for pk, value in digests.items()}
    return Wanted(taken.moment, gateways, rulesets, digests, targets, deltas or {})
