"""Compiles the desired rulesets of a group's gateways: from a full snapshot, or from an earlier state and the changes since.

Both ways give the same result. Gateways of a group share their elements, and an updated state shares all unchanged sets with the earlier.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from apps.deployments.desired_state import policy_snapshot
from apps.lib.interpreter import pause_garbage_collector
from apps.network.models import GatewayGroup
from firewall.compile import assemble_ruleset, compute_element_changes, compute_shape_delta
from firewall.diff import Delta, ElementChange, apply, diff
from firewall.digest import MODULUS, digest_elements, digest_shape, format_digest, update_digest
from firewall.elements import build_all_elements
from firewall.policy import GatewaySpec
from firewall.ruleset import Elements, Ruleset


@dataclass(frozen=True, slots=True)
class RulesetChange:
    """A desired ruleset's delta from one that this process compiled before. Useful only to a caller that holds that very object."""

    base: Ruleset
    delta: Delta


@dataclass(frozen=True, slots=True)
class DesiredState:
    """Per gateway id: the gateway, its ruleset, its digest over everything, and that digest as text.

    Nothing in the rulesets has expired at `snapshot.now`, so gateways have the same digest at that time. deltas: the last change,
    if the ruleset was made by one. amends: corrections to an incremental update that was wrong.
    """

    snapshot: policy_snapshot.ReadMoment
    gateways: dict[int, GatewaySpec]
    rulesets: dict[int, Ruleset]
    digests: dict[int, int]
    targets: dict[int, str]
    deltas: dict[int, RulesetChange] = field(default_factory=dict)
    amends: dict[int, Delta] = field(default_factory=dict)


def compute_delta(before: Ruleset, after: Ruleset, change: RulesetChange | None) -> Delta:
    """Return what turns `before` into `after`: the known change if `after` was made from `before`, else a computed diff."""
    if before is after:
        return Delta()
    return change.delta if change and change.base is before else diff(before, after)


def compute_desired_state(group: GatewayGroup, at: datetime | None = None) -> DesiredState:
    """Read everything, compile and digest it. at: as if it were then.

    Raises PolicyError when the policy must not be deployed.
    """
    return compile_snapshot(policy_snapshot.take_snapshot(group, at))


@pause_garbage_collector()
def compile_snapshot(taken: policy_snapshot.Snapshot) -> DesiredState:
    """Compile and digest a full snapshot. Raises PolicyError."""
    if not taken.policies:
        return DesiredState(taken.moment, {}, {}, {}, {})
    elements = build_all_elements(next(iter(taken.policies.values())))
    rulesets = {pk: assemble_ruleset(policy.gateway, elements) for pk, policy in taken.policies.items()}
    shared = digest_elements(elements)
    digests = {pk: (digest_shape(ruleset) + shared) % MODULUS for pk, ruleset in rulesets.items()}
    return _build_desired_state(taken, rulesets, digests)


def update_desired_state(before: DesiredState, by: policy_snapshot.IncrementalSnapshot) -> DesiredState | None:
    """Apply a changed snapshot to an earlier state. Return None when the group has other gateways than before. Raises PolicyError."""
    if by.policies.keys() != before.rulesets.keys():
        return None
    if not by.policies:
        return replace(before, snapshot=by.moment)
    one = next(iter(by.policies))
    changes = compute_element_changes(before.rulesets[one], by.touched, build_all_elements(by.policies[one]))
    deltas = {pk: compute_shape_delta(before.rulesets[pk], policy.gateway, changes) for pk, policy in by.policies.items()}
    if not any(deltas.values()):
        return replace(before, snapshot=by.moment, gateways={pk: policy.gateway for pk, policy in by.policies.items()}, amends={})
    after = _compute_changed_sets(before.rulesets[one], changes)
    rulesets = {pk: apply(before.rulesets[pk], delta, after) for pk, delta in deltas.items()}
    digests = {pk: update_digest(before.digests[pk], delta) for pk, delta in deltas.items()}
    return _build_desired_state(by, rulesets, digests, {pk: RulesetChange(before.rulesets[pk], delta) for pk, delta in deltas.items()})


def _compute_changed_sets(running: Ruleset, changes: Mapping[str, ElementChange]) -> dict[str, Elements]:
    """Return the contents of the changed sets after the change, once for all gateways."""
    return {name: change.apply(running.elements.get(name, {})) for name, change in changes.items()}


def _build_desired_state(
    taken: policy_snapshot.Snapshot, rulesets: dict[int, Ruleset], digests: dict[int, int], deltas: dict[int, RulesetChange] | None = None
) -> DesiredState:
    gateways = {pk: policy.gateway for pk, policy in taken.policies.items()}
    targets = {pk: format_digest(value) for pk, value in digests.items()}
    return DesiredState(taken.moment, gateways, rulesets, digests, targets, deltas or {})
