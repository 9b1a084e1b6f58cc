"""The management interface that a gateway goes on using while another one waits for an approval, or has not reached it yet."""

from apps.deployments.approvals.approval_gate import map_management_by_gateway
from apps.deployments.models import GatewayState
from apps.network.models import Gateway


def list_held_interfaces(gateway: Gateway) -> list[str]:
    """Return the management interface that the gateway has confirmed, if any: with it the gateway is compiled until it has another."""
    state = GatewayState.objects.filter(gateway=gateway.pk).exclude(revision=None).select_related("revision").first()
    settings = map_management_by_gateway(state.revision).get(gateway.pk) if state and state.revision else None
    return [settings["interface"]] if settings else []
