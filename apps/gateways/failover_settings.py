"""Settings of a group's failover: changed by one person at a time, or no longer managed here.

Saving sends nothing to gateways: the agent installs the files (failover_files.py) on request (roles/installing.py), or people do by hand.
"""

from collections.abc import Sequence
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.undo import find_last_event
from apps.gateways.failover_facts import check_failover_row
from apps.gateways.group_settings import build_settings_conflict, save_settings
from apps.lib.errors import Problem
from apps.lib.fields import AddressInNetwork
from apps.network.failover import RECOMMENDED
from apps.network.models import Failover, GatewayGroup

log = structlog.get_logger()


def get_failover(group: GatewayGroup) -> Failover:
    """Return the group's failover, or an unsaved one with version 0, the recommended values and no address."""
    return Failover.objects.filter(group=group).first() or Failover(group=group, version=0, inside=[])


@transaction.atomic
def change_failover(
    *,
    group: GatewayGroup,
    version: int,
    inside: Sequence[AddressInNetwork],
    outside: Sequence[AddressInNetwork] = (),
    servers: Sequence[AddressInNetwork] = (),
    virtual_router: int = RECOMMENDED.virtual_router,
    interval: int = RECOMMENDED.interval,
    failback: int | None = RECOMMENDED.failback,
    cache: str = RECOMMENDED.cache.value,
    announce: bool = False,
    by: User | None,
) -> Failover:
    """Change how the gateways stand in for each other; with version 0, begin to manage it. by: None for a command.

    Raises Conflict if it was changed since `version`, else Problem.
    """
    values: dict[str, Any] = {"inside": list(inside), "outside": list(outside), "servers": list(servers), "cache": cache}
    values |= {"virtual_router": virtual_router, "interval": interval, "failback": failback, "announce": announce}
    check_failover_row(Failover(group=group, **values))
    saved: Failover = save_settings(get_failover(group), version, values)
    log.info("failover changed", group=str(group), by=by.username if by else "")
    return saved


@transaction.atomic
def stop_managing_failover(*, group: GatewayGroup, version: int, by: User | None) -> int | None:
    """Stop managing the group's failover; what runs on the gateways goes on. Return the event that `undo_event` takes.

    Raises Conflict if it was changed since `version`. Doing it twice is harmless.
    """
    row = Failover.objects.select_for_update().filter(group=group).first()
    if row is None:
        return None
    if row.version != version:
        raise build_settings_conflict(row)
    pk = row.pk
    row.delete()
    log.info("failover no longer managed", group=str(group), by=by.username if by else "")
    return find_last_event(Failover, pk)


def check_failover_undo(former: Failover, _current: Failover | None) -> None:
    """Raise Problem if an undo must not bring back these values."""
    if not GatewayGroup.objects.filter(pk=former.group_id).exists():
        raise Problem(_("The gateway group of these settings is removed. Bring it back first."))
    check_failover_row(former)


def explain_failover_error(error: IntegrityError, row: Failover) -> Problem:
    """Return the sentence for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    if "group_id" not in str(error):
        raise error
    return Problem(_("Failover of %(group)s has been set again since. Look at it as it is now.") % {"group": row.group})
