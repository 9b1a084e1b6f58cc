"""What a group's gateways should run: a snapshot, compiled."""

from dataclasses import dataclass

from apps.deployments import snapshot
from apps.network.models import GatewayGroup
from firewall.compile import assemble, elements_of
from firewall.digest import MODULUS, at, digest_elements, digest_shape, text
from firewall.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Wanted:
    """Per gateway id: the ruleset, its digest of everything, and the digest (as text) it has at `snapshot.now`."""

    snapshot: snapshot.Snapshot
    rulesets: dict[int, Ruleset]
    digests: dict[int, int]
    targets: dict[int, str]


def want(group: GatewayGroup) -> Wanted:
    """Read, compile and digest. The gateways share their elements, which are nearly everything.

    Raises PolicyError when what the database asks for must not be deployed.
    """
    taken = snapshot.take(group)
    if not taken.policies:
        return Wanted(taken, {}, {}, {})
    elements = elements_of(next(iter(taken.policies.values())))
    rulesets = {pk: assemble(policy.gateway, elements) for pk, policy in taken.policies.items()}
    shared = digest_elements(elements)
    digests = {pk: (digest_shape(ruleset) + shared) % MODULUS for pk, ruleset in rulesets.items()}
    targets = {pk: text(at(digests[pk], ruleset, taken.now)) for pk, ruleset in rulesets.items()}
    return Wanted(taken, rulesets, digests, targets)
