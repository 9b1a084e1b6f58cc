"""Ports at which a gateway's sshd may let the portal in.

A port that was entered counts once the gateway has confirmed it: until then its kernel drops packets to it. So the portal goes on at the
confirmed port, and tries the others where no sshd answers there.
"""

from apps.deployments.models import GatewayState, Revision, RolloutStep
from apps.network.models import Gateway

_UNDECIDED = (*RolloutStep.MOVING, RolloutStep.State.LOST)  # the gateway may run what it was sent


def list_ports(gateway: Gateway) -> tuple[int, ...]:
    """Return the ports without duplicates, the likeliest first: that of the confirmed revision, of later ones whose outcome on the gateway
    is not known, and the one that was entered. That one comes first for a machine that has confirmed nothing.
    """
    entered = gateway.management_port
    if gateway.pk is None:
        return (entered,)
    revisions = Revision.objects.only("gateways", "management")
    confirmed = revisions.filter(pk__in=GatewayState.objects.filter(gateway=gateway).values("revision")).first()
    undecided = RolloutStep.objects.filter(gateway=gateway, state__in=_UNDECIDED, rollout__revision__gt=confirmed.pk if confirmed else 0)
    sent = [find_port(each, gateway) for each in revisions.filter(pk__in=undecided.values("rollout__revision"))]
    ports = (find_port(confirmed, gateway), *sent, entered) if confirmed else (entered, *sent)
    return tuple(dict.fromkeys(port for port in ports if port is not None))


def find_port(revision: Revision, gateway: Gateway) -> int | None:
    """Return the port at which this revision lets the portal in to the gateway, whatever that is called now; None if it is unknown."""
    names = (name for name, pk in revision.gateways.items() if pk == gateway.pk)
    return next((revision.management[name]["port"] for name in names if name in revision.management), None)
