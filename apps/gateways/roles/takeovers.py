"""What would happen if a gateway died now: who takes over each of its families, after which silence, and what would be lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState
from apps.gateways.roles.models import FailoverStatus, GatewayRole
from apps.gateways.roles.picture import FamilyPicture, RolesPicture, describe_lacking_states, is_idle, lacks_states
from apps.network.models import Failover, Gateway

ADVERTISEMENTS: Final = 3  # that a standby misses before it takes over (RFC 9568, Master_Down_Interval)
ORPHANED: Final = 5.0  # seconds without a carrier after which a drained gateway takes its families back


@dataclass(frozen=True)
class FamilyTakeover:
    """One family after its carrier died. successor: None if nobody takes it over. seconds: of silence before that; None: nobody.

    losses: sentences on what would not go on as before.
    """

    family: int
    successor: Gateway | None
    seconds: float | None
    losses: Sequence[str]


@dataclass(frozen=True)
class Takeover:
    """A gateway that dies, and what becomes of the families that it carries."""

    gateway: Gateway
    families: Sequence[FamilyTakeover]

    @property
    def is_covered(self) -> bool:
        """True if members go on as before after a moment."""
        return all(each.successor and not each.losses for each in self.families)


def list_takeovers(picture: RolesPicture, settings: Failover) -> list[Takeover]:
    """Return what would happen for each gateway of the picture."""
    running = dict(GatewayState.objects.filter(gateway__group=picture.group).values_list("gateway", "revision"))
    silence = ADVERTISEMENTS * settings.interval / 100
    return [Takeover(each.gateway, list(_iter_families(each, picture, silence, running))) for each in picture.statuses]


def _iter_families(
    status: FailoverStatus, picture: RolesPicture, silence: float, running: Mapping[int, int | None]
) -> Iterator[FamilyTakeover]:
    for family in picture.families:
        if [each.status_id for each in family.carrying] == [status.pk]:
            yield _build_family(status, family, silence, running)


def _build_family(status: FailoverStatus, family: FamilyPicture, silence: float, running: Mapping[int, int | None]) -> FamilyTakeover:
    for wait, successors in ((silence, _list_standbys(family)), (silence + ORPHANED, _list_drained(family))):
        for role in successors:
            losses = list(_iter_losses(status, role.status, running))
            return FamilyTakeover(family.family, role.status.gateway, wait, losses)
    return FamilyTakeover(family.family, None, None, [_("Members have no IPv%(family)d until it is back.") % {"family": family.family}])


def _list_standbys(family: FamilyPicture) -> list[GatewayRole]:
    return [each for each in family.roles if each.role == GatewayRole.Role.STANDBY and _can_elect(each)]


def _list_drained(family: FamilyPicture) -> list[GatewayRole]:
    return [each for each in family.roles if each.is_drained and not each.carries and _can_elect(each)]


def _can_elect(role: GatewayRole) -> bool:
    return not role.status.problem and not is_idle(role.status, "elected")


def _iter_losses(carrier: FailoverStatus, other: FailoverStatus, running: Mapping[int, int | None]) -> Iterator[str]:
    if is_idle(carrier, "synchronised") or is_idle(other, "synchronised"):
        yield _("Connections end, because their states are not copied.")
    elif lacks_states(carrier, other):
        yield describe_lacking_states(carrier, other)
    if running.get(carrier.gateway_id) != running.get(other.gateway_id):
        yield _("%(gateway)s has the rules of another revision.") % {"gateway": other.gateway}
