"""Note for the top bar of each page: which family is not carried as planned."""

from collections import defaultdict
from collections.abc import Iterator

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.gateways.roles.models import GatewayRole
from apps.gateways.roles.picture import Deviation, FamilyPicture
from apps.lib.ui.states import StateKind
from apps.lib.web.context_processors import TopBarNote

ORDER = (StateKind.BAD, StateKind.WARN)


def summarize_deviation(_request: HttpRequest) -> TopBarNote | None:
    """Summarise the group whose families are carried least as planned; None if all are. One query; asks no gateway."""
    families: dict[tuple[int, int], list[GatewayRole]] = defaultdict(list)
    rows = GatewayRole.objects.filter(status__gateway__retired=None, status__gateway__group__failover__isnull=False)
    for role in rows.select_related("status__gateway").order_by("status__gateway__group", "family", "status__gateway__name"):
        families[role.status.gateway.group_id, role.family].append(role)
    return min(_iter_notes(families), key=lambda note: ORDER.index(note.kind), default=None)


def _iter_notes(families: dict[tuple[int, int], list[GatewayRole]]) -> Iterator[TopBarNote]:
    for (group, family), roles in families.items():
        preferred = next((each.status.gateway for each in roles if getattr(each.status.gateway, f"carries{family}")), None)
        picture = FamilyPicture(family, roles, preferred)
        if picture.deviation:
            kind = StateKind.WARN if picture.deviation is Deviation.NOT_PREFERRED else StateKind.BAD
            yield TopBarNote(kind, _render_deviation(picture), reverse("gateways:failover", args=[group]))


def _render_deviation(picture: FamilyPicture) -> str:
    words = {
        Deviation.NOBODY: _("IPv%(family)d on no gateway"),
        Deviation.SEVERAL: _("IPv%(family)d on several gateways"),
        Deviation.NOT_PREFERRED: _("IPv%(family)d on %(gateway)s"),
    }
    return words[picture.deviation or Deviation.NOBODY] % {"family": picture.family, "gateway": picture.carrier_names}
