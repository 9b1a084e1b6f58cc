"""Services that read and change a group's port rules for members."""

import structlog
from django.db.models import F
from django.db.transaction import atomic
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.nat.rules.models import MOST_FORBIDDEN, PortRules
from apps.network.models import GatewayGroup
from apps.preferences.declarations import FORBIDDEN_PORTS, LONGEST_RANGE, LOWEST_PORT
from apps.preferences.selectors import read_setting

log = structlog.get_logger()


def get_port_rules(group: int) -> PortRules:
    """Return the group's rules, or the network's."""
    return PortRules.objects.filter(group=group).first() or _build_default_rules(group)


def _build_default_rules(group: int) -> PortRules:
    return PortRules(
        group_id=group,
        version=0,
        lowest=read_setting(LOWEST_PORT),
        longest=read_setting(LONGEST_RANGE),
        forbidden=read_setting(FORBIDDEN_PORTS),
    )


@atomic
def change_port_rules(*, group: GatewayGroup, version: int, lowest: int, longest: int, forbidden: list[int], by: User) -> PortRules:
    """Change the rules for ports opened from now on. Raises Conflict when they were changed since `version` (0: there were none)."""
    if len(set(forbidden)) > MOST_FORBIDDEN:
        raise Problem(_("More than %(most)d forbidden ports: raise the lowest port instead.") % {"most": MOST_FORBIDDEN}, "forbidden")
    given = {"lowest": lowest, "longest": longest, "forbidden": sorted(set(forbidden))}
    made = not version and PortRules.objects.get_or_create(group=group, defaults=given)[1]
    present = PortRules.objects.filter(group=group)
    if not made and not present.filter(version=version).update(**given, version=F("version") + 1):
        raise Conflict(_("These rules were changed by someone else while you were editing. Look at them as they are now, then save again."))
    log.info("port rules changed", group=str(group), by=by.username)
    return present.get()
