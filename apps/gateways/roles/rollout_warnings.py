"""Warnings beside a rollout of a group with failover: nobody would take over, or connections would end."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from apps.gateways.failover_files import find_failover
from apps.gateways.roles.picture import build_roles_picture
from apps.gateways.roles.takeovers import FamilyTakeover, predict_takeovers
from apps.network.models import GatewayGroup


def list_rollout_warnings(group: GatewayGroup) -> list[str]:
    """Return a sentence for each gateway and loss. Reads what the gateways reported last."""
    settings = find_failover(group.pk)
    if settings is None:
        return []
    takeovers = predict_takeovers(build_roles_picture(group), settings)
    found = (_render(takeover.gateway.name, loss) for takeover in takeovers for each in takeover.families for loss in _iter_losses(each))
    return list(dict.fromkeys(found))  # both families of a gateway often lose the same


def _iter_losses(takeover: FamilyTakeover) -> Iterator[str]:
    """Yield what is lost. Rules of another revision are no loss: a rollout brings them, one gateway after the other."""
    if takeover.successor is None:
        yield _("nobody takes IPv%(family)d over.") % {"family": takeover.family}
    yield from takeover.lost_connections


def _render(gateway: str, loss: str) -> str:
    return _("If %(gateway)s failed now: %(loss)s") % {"gateway": gateway, "loss": loss}
