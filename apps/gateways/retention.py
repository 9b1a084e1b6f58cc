"""Declares how this app's tables are bounded: by what people enter, a maximum (joining/services.py), or a year for past roles."""

from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext_lazy as _

from apps.gateways.roles.models import CarrierChange, RoleSwitch
from apps.operations.registry import TableBoundKind, delete_oldest_batch, register_pruned_table, register_unpruned_tables

YEAR: Final = timedelta(days=365)


def prune_carrier_changes(now: datetime, at_most: int) -> int:
    """Delete changes of carriers that are older than a year."""
    return delete_oldest_batch(CarrierChange.objects.filter(at__lt=now - YEAR), "at", at_most)


def prune_switches(now: datetime, at_most: int) -> int:
    """Delete switches that ended more than a year ago."""
    return delete_oldest_batch(RoleSwitch.objects.filter(ended__lt=now - YEAR), "ended", at_most)


register_unpruned_tables(TableBoundKind.PEOPLE, "gateways.JoiningMachine")
register_unpruned_tables(TableBoundKind.CODE, "gateways.FailoverStatus", "gateways.GatewayRole", "gateways.ProbeStatus")
register_pruned_table("gateways.CarrierChange", kept=_("1 year"), prune=prune_carrier_changes)
register_pruned_table("gateways.RoleSwitch", kept=_("1 year"), prune=prune_switches)
