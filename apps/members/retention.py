"""Registers how this app's tables are bounded: by what people enter; memberships are history and are kept."""

from apps.operations.registry import TableBound, register_bounded

register_bounded(TableBound.PEOPLE, "members.Tariff", "members.Site", "members.Room", "members.Member", "members.Device")
register_bounded(TableBound.PEOPLE, "members.Departure", "members.MemberInvitation")
register_bounded(TableBound.HISTORY, "members.Membership")
