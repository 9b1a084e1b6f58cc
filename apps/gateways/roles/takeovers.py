"""What would happen if a gateway died now: who takes over each of its families, after which silence, and what would be lost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _

from apps.deployments.models import GatewayState
from apps.gateways.roles.models import FailoverStatus, GatewayRole
from apps.gateways.roles.picture import FamilyPicture, RolesPicture
from apps.gateways.roles.program_health import describe_lacking_states, is_idle, lacks_states
from apps.network.models import Failover, Gateway

ADVERTISEMENTS: Final = 3  # that a standby misses before it takes over (RFC 9568, Master_Down_Interval)
ORPHANED: Final = 5.0  # seconds without a carrier after which a drained gateway takes its families back (TAKEOVER of netzwart-failover)


@dataclass(frozen=True)
class FamilyTakeover:
    """One family after its carrier died. successor: None if nobody takes it over. seconds: of silence before that; None: nobody.

    lost_connections: sentences on connections that would end. other_losses: on what else would not go on as before.
    """

    family: int
    successor: Gateway | None
    seconds: float | None
    lost_connections: Sequence[str] = ()
    other_losses: Sequence[str] = ()

    @property
    def losses(self) -> list[str]:
        return [*self.lost_connections, *self.other_losses]


@dataclass(frozen=True)
class Takeover:
    """A gateway that dies, and what becomes of the families that it carries."""

    gateway: Gateway
    families: Sequence[FamilyTakeover]

    @property
    def is_covered(self) -> bool:
        """True if members go on as before after a moment."""
        return all(each.successor and not each.losses for each in self.families)


def predict_takeovers(picture: RolesPicture, settings: Failover) -> list[Takeover]:
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
            older = list(_iter_older_rules(status.gateway, role.status.gateway, running))
            return FamilyTakeover(family.family, role.status.gateway, wait, list(_iter_lost_connections(status, role.status)), older)
    words = _("Members have no IPv%(family)d until it is back.") % {"family": family.family}
    return FamilyTakeover(family.family, None, None, other_losses=[words])


def _list_standbys(family: FamilyPicture) -> list[GatewayRole]:
    return [each for each in family.roles if each.role == GatewayRole.Role.STANDBY and _can_elect(each)]


def _list_drained(family: FamilyPicture) -> list[GatewayRole]:
    return [each for each in family.roles if each.is_drained and not each.carries and _can_elect(each)]


def _can_elect(role: GatewayRole) -> bool:
    return not role.status.problem and not is_idle(role.status, "elected")


def _iter_lost_connections(carrier: FailoverStatus, other: FailoverStatus) -> Iterator[str]:
    if is_idle(carrier, "synchronised") or is_idle(other, "synchronised"):
        yield _("Connections end, because their states are not copied.")
    elif lacks_states(carrier, other):
        yield describe_lacking_states(carrier, other)


def _iter_older_rules(carrier: Gateway, other: Gateway, running: Mapping[int, int | None]) -> Iterator[str]:
    if running.get(carrier.pk) != running.get(other.pk):
        yield _("%(gateway)s has the rules of another revision.") % {"gateway": other}
