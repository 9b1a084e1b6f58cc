"""Restores what several kinds need: the holding that an object belonged to, and rows that were deleted."""

from ipaddress import ip_network
from typing import Any

from django.apps import apps
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.members.services import activate_member
from apps.network.models import Holding
from apps.network.services import assign_address


def restore_holding(prefix: str, by: User) -> Holding:
    """Assign the prefix to its last holder again, as an active member."""
    last = Holding.objects.filter(prefix=ip_network(prefix)).select_related("member", "pool", "device").order_by("-valid", "-pk").first()
    if last is None:
        raise Problem(_("The member who held it is not known."))
    if last.member.state != Member.State.ACTIVE:
        activate_member(member=last.member, by=by)
        last.member.refresh_from_db()
    if Holding.objects.filter(is_valid_now(), pk=last.pk).exists():
        return last
    return assign_address(member=last.member, pool=last.pool, prefix=last.prefix, device=last.device, by=by)


def get_last_deletion(app: str, model: str, **where: Any) -> Any:
    """Return the event of the last deletion of such a row. Raises Problem if the history has none."""
    event = apps.get_model(app, model)._default_manager.filter(pgh_label="delete", **where).order_by("-pgh_id").first()
    if event is None:
        raise build_gone_problem()
    return event


def build_gone_problem() -> Problem:
    """Return the problem of a row that neither exists nor is found in the history."""
    return Problem(_("The entry no longer exists, and was not found in the history."))
