"""Plan of an installation: what a gateway would risk that installs the files of today's failover settings, and what is in the way.

It rests on what the gateways reported last, as the plan of a switch does.
"""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.gateways.failover_files import build_install_request
from apps.gateways.families import join_family_names
from apps.gateways.roles.observation import list_roles
from apps.gateways.roles.switch_plan import find_target
from apps.lib.errors import Problem
from apps.network.models import Gateway


@dataclass(frozen=True)
class FileInstallPlan:
    """What an installation would do. families: that the files elect; carried: those of them that the gateway carries now.

    alone: why no other gateway can carry these meanwhile, so that members notice a pause; "" if nothing is carried. obstacle: why it
    cannot be done now.
    """

    gateway: Gateway
    families: tuple[int, ...] = ()
    carried: tuple[int, ...] = ()
    alone: str = ""
    obstacle: Problem | None = None


def plan_file_install(gateway: Gateway) -> FileInstallPlan:
    """Return what installing the gateway's files would do. Asks no gateway."""
    try:
        families = build_install_request(gateway).values.spec.list_families()
    except Problem as problem:
        return FileInstallPlan(gateway, obstacle=problem)
    roles = list_roles(gateway.group)
    carrying = [each for each in roles if each.status.gateway_id == gateway.pk and each.carries]
    carried = tuple(each.family for each in carrying)
    if not carrying:
        return FileInstallPlan(gateway, families)
    target, reasons = find_target(carrying[0].status, carried, roles)
    if target is None:
        return FileInstallPlan(gateway, families, carried, " ".join(reasons) or _("It is the only gateway of its group."))
    words = _("%(gateway)s carries %(families)s, and %(target)s is ready to take over. Switch over first: then members notice nothing.")
    given = {"gateway": gateway, "families": join_family_names(carried), "target": target}
    return FileInstallPlan(gateway, families, carried, obstacle=Problem(words % given, culprit=gateway))
