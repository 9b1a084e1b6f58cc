"""How this app's tables are bounded: as many rows as people enter."""

from apps.operations.registry import Bound, bounded

bounded(Bound.PEOPLE, "members.Tariff", "members.Site", "members.Room", "members.Member", "members.Device")
bounded(Bound.PEOPLE, "members.Departure", "members.MemberInvitation")
bounded(Bound.HISTORY, "members.Membership")
