"""Note for the top bar of each page: which family is not carried as planned."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.gateways.roles.models import GatewayRole
from apps.gateways.roles.observation import list_carrying
from apps.lib.ui.states import StateKind
from apps.lib.web.context_processors import TopBarNote

ORDER = (StateKind.BAD, StateKind.WARN)


def summarize_deviation(_request: HttpRequest) -> TopBarNote | None:
    """Summarise the group whose families are carried least as planned; None if all are. Reads what was reported last."""
    families: dict[tuple[int, int], list[GatewayRole]] = defaultdict(list)
    rows = GatewayRole.objects.filter(status__gateway__retired=None, status__gateway__group__failover__isnull=False)
    for role in rows.select_related("status__gateway").order_by("status__gateway__group", "family", "status__gateway__name"):
        families[role.status.gateway.group_id, role.family].append(role)
    return min(_iter_notes(families), key=lambda note: ORDER.index(note.kind), default=None)


def _iter_notes(families: dict[tuple[int, int], list[GatewayRole]]) -> Iterator[TopBarNote]:
    for (group, family), roles in families.items():
        carrying = list_carrying(roles)
        preferred = [role for role in roles if getattr(role.status.gateway, f"carries{family}")]
        if len(carrying) != 1:
            yield TopBarNote(StateKind.BAD, _render_fault(family, carrying), reverse("gateways:failover", args=[group]))
        elif preferred and carrying != preferred:
            given = {"family": family, "gateway": carrying[0].status.gateway}
            yield TopBarNote(StateKind.WARN, _("IPv%(family)d on %(gateway)s") % given, reverse("gateways:failover", args=[group]))


def _render_fault(family: int, carrying: Sequence[GatewayRole]) -> str:
    words = _("IPv%(family)d on several gateways") if carrying else _("IPv%(family)d on no gateway")
    return words % {"family": family}
