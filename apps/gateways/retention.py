"""Declares how this app's tables are bounded: by what people enter, a maximum (joining/services.py), or a year for past roles."""

from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext_lazy as _

from apps.gateways.roles.models import CarrierChange, RoleSwitch
from apps.operations.registry import TableBound, delete_oldest, register_bounded, register_pruned

YEAR: Final = timedelta(days=365)


def prune_carrier_changes(now: datetime, at_most: int) -> int:
    """Delete changes of carriers that are older than a year."""
    return delete_oldest(CarrierChange.objects.filter(at__lt=now - YEAR), "at", at_most)


def prune_switches(now: datetime, at_most: int) -> int:
    """Delete switches that ended more than a year ago."""
    return delete_oldest(RoleSwitch.objects.filter(ended__lt=now - YEAR), "ended", at_most)


register_bounded(TableBound.PEOPLE, "gateways.JoiningMachine")
register_bounded(TableBound.CODE, "gateways.FailoverStatus", "gateways.GatewayRole")
register_pruned("gateways.CarrierChange", kept=_("1 year"), prune=prune_carrier_changes)
register_pruned("gateways.RoleSwitch", kept=_("1 year"), prune=prune_switches)
