"""Histories that several kinds share: those of the holding and of its member."""

from typing import Final

from apps.deployments.rule_kinds.kind import EventSource

HOLDING: Final = EventSource("held", "network_holdingevent", "event.pgh_obj_id = held.holding")
MEMBER: Final = EventSource("held", "members_memberevent", "event.pgh_obj_id = held.member")
BAN: Final = EventSource("thing", "bans_banevent", "event.prefix = thing.prefix")
BAN_LIST: Final = EventSource("thing", "bans_banlistevent", "{since}")  # enabling or disabling a list concerns all of its bans
