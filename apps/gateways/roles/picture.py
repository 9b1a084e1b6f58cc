"""Picture of a group's roles: who carries each family, and whether that is the plan.

Reads what was reported last; asks no gateway.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from django.db.models import QuerySet

from apps.gateways.families import FAMILIES
from apps.gateways.roles.models import FailoverStatus, GatewayRole
from apps.gateways.roles.observation import filter_carrying_roles
from apps.lib.web.frame_reads import read_with_frame
from apps.lib.web.request_cache import cache_per_request
from apps.network.models import Gateway, GatewayGroup


class Deviation(Enum):
    """How a family is not carried as planned: by no gateway, by several, or by another one than the preferred."""

    NOBODY = auto()
    SEVERAL = auto()
    NOT_PREFERRED = auto()


@dataclass(frozen=True)
class FamilyPicture:
    """One family: its roles on all gateways, and the preferred gateway; None if that one never told its role."""

    family: int
    roles: Sequence[GatewayRole]
    preferred: Gateway | None

    @property
    def carrying(self) -> list[GatewayRole]:
        """The roles by which it is carried."""
        return filter_carrying_roles(self.roles)

    @property
    def deviation(self) -> Deviation | None:
        """How it is not carried as planned; None if it is."""
        gateways = [each.status.gateway for each in self.carrying]
        if len(gateways) != 1:
            return Deviation.SEVERAL if gateways else Deviation.NOBODY
        return Deviation.NOT_PREFERRED if self.preferred not in (None, *gateways) else None

    def has_standby_for(self, gateway: Gateway) -> bool:
        """True if another gateway that answers is on standby: it hears the carrier, or else it takes over."""
        others = (each for each in self.roles if each.status.gateway_id != gateway.pk and not each.status.problem)
        return any(each.role == GatewayRole.Role.STANDBY for each in others)

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


@cache_per_request
def map_family_pictures() -> dict[tuple[int, int], FamilyPicture]:
    """Return the families of all groups whose failover is managed here, by group and family. One query for each page."""
    found: dict[tuple[int, int], list[GatewayRole]] = defaultdict(list)
    for role in _list_roles():
        found[role.status.gateway.group_id, role.family].append(role)
    return {key: FamilyPicture(key[1], roles, _find_preferred(roles)) for key, roles in found.items()}


@read_with_frame
def _list_roles() -> QuerySet[GatewayRole]:
    rows = GatewayRole.objects.filter(status__gateway__retired=None, status__gateway__group__failover__isnull=False)
    return rows.select_related("status__gateway__group").order_by("status__gateway__group", "family", "status__gateway__name")


@read_with_frame
def _list_statuses() -> QuerySet[FailoverStatus]:
    rows = FailoverStatus.objects.filter(gateway__retired=None).select_related("gateway__group", "gateway__server_interface")
    return rows.order_by("gateway__name")


def _find_preferred(roles: Sequence[GatewayRole]) -> Gateway | None:
    gateways = (each.status.gateway for each in roles if getattr(each.status.gateway, f"carries{each.family}"))
    return next(gateways, None)


def list_managed_groups() -> list[GatewayGroup]:
    """Return the groups whose failover is managed here and has been reported, by name."""
    groups = {picture.roles[0].status.gateway.group for picture in map_family_pictures().values()}
    return sorted(groups, key=lambda group: group.name)


def map_carried_families(gateways: Iterable[Gateway]) -> dict[int, frozenset[int]]:
    """Return the families that each gateway carries, by its id: as reported last, or else those that it is primary for."""
    known = map_family_pictures()

    def carries(gateway: Gateway, family: int) -> bool:
        picture = known.get((gateway.group_id, family))
        return gateway in [each.status.gateway for each in picture.carrying] if picture else getattr(gateway, f"carries{family}")

    return {each.pk: frozenset(family for family in FAMILIES if carries(each, family)) for each in gateways}


def build_roles_picture(group: GatewayGroup) -> RolesPicture:
    """Build the picture of a group whose failover is managed here."""
    families = [picture for (pk, _family), picture in sorted(map_family_pictures().items()) if pk == group.pk]
    return RolesPicture(group, families, [each for each in _list_statuses() if each.gateway.group_id == group.pk])
