"""Order in which a rollout visits the gateways of a group: the one that carries fewer address families goes first.

Which families a gateway carries now is known to another app, which registers a lookup. Where nobody knows it, the plan counts: the
families that the gateway is primary for.
"""

from collections.abc import Callable, Mapping

from apps.deployments.desired_state.gateway_reader import read_gateways
from apps.network.models import Gateway, GatewayGroup

CarriedLookup = Callable[[GatewayGroup], Mapping[int, int]]
_lookups: list[CarriedLookup] = []


def register_carried_families_lookup(lookup: CarriedLookup) -> CarriedLookup:
    """Register a lookup, in the ready() of the app that owns it. It returns how many families gateways carry now, by their ids."""
    if lookup not in _lookups:
        _lookups.append(lookup)
    return lookup


def list_in_rollout_order(group: GatewayGroup) -> list[Gateway]:
    """Return the group's gateways in the order of a rollout."""
    carried = {gateway: number for lookup in _lookups for gateway, number in lookup(group).items()}

    def rank(gateway: Gateway) -> tuple[int, int, str]:
        planned = gateway.carries4 + gateway.carries6
        return carried.get(gateway.pk, planned), planned, gateway.name

    found = read_gateways(group.pk)
    for gateway in found:
        gateway.group = group
    return sorted(found, key=rank)
