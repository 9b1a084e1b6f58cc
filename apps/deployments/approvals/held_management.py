"""The management interface that a gateway goes on using while another one waits for an approval, or has not reached it yet."""

from collections.abc import Iterator

from apps.deployments.approvals.approval_gate import map_management_by_gateway
from apps.deployments.models import GatewayState, Revision
from apps.deployments.observed_state.gateway_states import list_confirmed_revisions
from apps.network.models import Gateway


def list_held_interfaces(gateway: Gateway) -> list[str]:
    """Return the management interface that the gateway has confirmed, or its group if the gateway has not, as a new machine.

    With it the gateway is compiled until it has another (`approval_gate.map_running_management`).
    """
    known = (map_management_by_gateway(revision).get(gateway.pk) for revision in _iter_revisions(gateway))
    settings = next(filter(None, known), None)
    return [settings["interface"]] if settings else []


def _iter_revisions(gateway: Gateway) -> Iterator[Revision]:
    """Iterate over what the gateway has confirmed, and what its group has."""
    state = GatewayState.objects.filter(gateway=gateway.pk).exclude(revision=None).select_related("revision").first()
    if state and state.revision:
        yield state.revision
    yield from list_confirmed_revisions(gateway.group_id)[:1]
