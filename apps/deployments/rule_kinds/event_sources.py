"""Histories that several kinds share: those of the holding and of its member."""

from typing import Final

from apps.deployments.rule_kinds.kind import AuthorHistory

HOLDING: Final = AuthorHistory("held", "network_holdingevent", "event.pgh_obj_id = held.holding")
MEMBER: Final = AuthorHistory("held", "members_memberevent", "event.pgh_obj_id = held.member")
BAN: Final = AuthorHistory("thing", "bans_banevent", "event.prefix = thing.prefix")
BAN_LIST: Final = AuthorHistory("thing", "bans_banlistevent", "{since}")  # enabling or disabling a list concerns all of its bans
