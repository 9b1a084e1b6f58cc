"""Picture of a group's roles: who carries each family, and whether that is the plan.

Reads what was reported last; asks no gateway.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from apps.gateways.primaries import find_primary
from apps.gateways.roles.models import FailoverStatus, GatewayRole
from apps.gateways.roles.observation import list_carrying, list_roles
from apps.network.models import Gateway, GatewayGroup


class Deviation(Enum):
    """How a family is not carried as planned: by no gateway, by several, or by another one than the preferred."""

    NOBODY = auto()
    SEVERAL = auto()
    NOT_PREFERRED = auto()


@dataclass(frozen=True)
class FamilyPicture:
    """One family: its roles on all gateways, and the preferred gateway; None if there is none."""

    family: int
    roles: Sequence[GatewayRole]
    preferred: Gateway | None

    @property
    def carrying(self) -> list[GatewayRole]:
        """The roles by which it is carried."""
        return list_carrying(self.roles)

    @property
    def deviation(self) -> Deviation | None:
        """How it is not carried as planned; None if it is."""
        gateways = [each.status.gateway for each in self.carrying]
        if len(gateways) != 1:
            return Deviation.SEVERAL if gateways else Deviation.NOBODY
        return Deviation.NOT_PREFERRED if self.preferred not in (None, *gateways) else None

    @property
    def carrier_names(self) -> str:
        """Names of the gateways that carry it; "" for none."""
        return ", ".join(each.status.gateway.name for each in self.carrying)


@dataclass(frozen=True)
class RolesPicture:
    """All families of a group, and the reports of its gateways."""

    group: GatewayGroup
    families: Sequence[FamilyPicture]
    statuses: Sequence[FailoverStatus]

    def list_roles_of(self, status: FailoverStatus) -> list[GatewayRole]:
        """Return the roles of one gateway, by family."""
        return [role for family in self.families for role in family.roles if role.status_id == status.pk]


def build_roles_picture(group: GatewayGroup) -> RolesPicture:
    """Build the picture of one group."""
    roles = list_roles(group)
    rows = FailoverStatus.objects.filter(gateway__group=group, gateway__retired=None)
    statuses = list(rows.select_related("gateway__group", "gateway__server_interface").order_by("gateway__name"))
    return RolesPicture(group, [_build_family(group, family, roles) for family in sorted({each.family for each in roles})], statuses)


def _build_family(group: GatewayGroup, family: int, roles: Sequence[GatewayRole]) -> FamilyPicture:
    return FamilyPicture(family, [each for each in roles if each.family == family], find_primary(group, family))
