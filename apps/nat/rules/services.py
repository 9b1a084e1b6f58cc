"""Reading and changing what members may open for themselves."""

import structlog
from django.db import IntegrityError
from django.db.models import F
from django.db.transaction import atomic
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.nat.rules.models import MOST_FORBIDDEN, PortRules
from apps.network.models import GatewayGroup

log = structlog.get_logger()


def rules_of(group: int) -> PortRules:
    """The group's, or the defaults."""
    return PortRules.objects.filter(group=group).first() or PortRules(group_id=group, version=0)


def change(*, group: GatewayGroup, version: int, lowest: int, longest: int, forbidden: list[int], by: User) -> PortRules:
    """From now on members open ports by these. Raises Conflict when somebody changed them since `version` (0: there were none)."""
    if len(set(forbidden)) > MOST_FORBIDDEN:
        raise Problem(_("More than %(most)d forbidden ports: raise the lowest port instead.") % {"most": MOST_FORBIDDEN}, "forbidden")
    given = {"lowest": lowest, "longest": longest, "forbidden": sorted(set(forbidden))}
    conflict = Conflict(_("Somebody changed these rules while you were editing. Look at them as they are now, then save again."))
    try:
        with atomic():
            if not version:
                PortRules.objects.create(group=group, **given)
            elif not PortRules.objects.filter(group=group, version=version).update(**given, version=F("version") + 1):
                raise conflict
            saved = PortRules.objects.get(group=group)
    except IntegrityError as error:
        if "group_id" not in str(error):
            raise
        raise conflict from error
    log.info("port rules changed", group=str(group), by=by.username)
    return saved
