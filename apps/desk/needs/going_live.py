"""Needs of a portal whose gateways do not run its network: after a restore of its database, before the first steps, before going live."""

from collections.abc import Iterator, Sequence

from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.deployments.restored_database.restore_hold import find_open_restore
from apps.desk.needs.need import AttentionItem
from apps.gateways.selectors import GatewayOverview
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel

RESTORED = "restored"  # key of the need


def iter_restore_needs(gates: Sequence[GatewayOverview]) -> Iterator[AttentionItem]:
    """Yield a restore of the database that nobody has agreed to. What gateways run is unknown then, so no first steps are shown.

    A restore forgets what the gateways ran, and until somebody agrees they get nothing: while one is known, there is no such restore.
    """
    is_running_known = any(each.status and each.status.revision for each in gates)
    restore = None if is_running_known else find_open_restore()
    if restore is None:
        return
    made = formats.format_moment(restore.backup_made, timezone.now(), with_zone=True)
    yield AttentionItem(
        RESTORED,
        StateLabel(StateKind.BAD, _("Restored"), "hold"),
        _("This portal was restored from the backup of %(time)s") % {"time": made},
        _("Nothing is sent to the gateways until somebody has looked at what differs, and continues."),
        restore.restored,
        _("Look…"),
        resolve_url("deployments:restored"),
        stands_for=frozenset({"first-steps"}),
    )


def iter_live_needs(gates: Sequence[GatewayOverview]) -> Iterator[AttentionItem]:
    """Yield the first steps of a network that does not run yet; else groups with gateways that are not live."""
    if not any(each.status and each.status.revision for each in gates):
        yield AttentionItem(
            "first-steps",
            StateLabel(StateKind.WAIT, _("To do")),
            _("No gateway runs your network yet"),
            _("The first steps show what is there and what is missing."),
            None,
            _("First steps"),
            resolve_url("desk:first-steps"),
        )
        return
    for group in dict.fromkeys(each.gateway.group for each in gates if each.gateway.group.live_since is None):
        yield AttentionItem(
            f"live-{group.pk}",
            StateLabel(StateKind.WAIT, _("Not live")),
            _("%(group)s is not live yet") % {"group": group},
            _("Nothing is deployed to its gateways. Look at the plan, then go live."),
            None,
            _("Show the plan"),
            resolve_url("deployments:plan", group.pk),
        )
