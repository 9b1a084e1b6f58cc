"""Names of the API's collections in groups, for pages on which one chooses among them.

The collections are those of route_rights.py; a test checks that each of them is listed here.
"""

from collections.abc import Callable, Iterator
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

GROUPS: Final[tuple[tuple[Promise, dict[str, Promise]], ...]] = (
    (
        _("People"),
        {
            "member": _("Members"),
            "device": _("Devices"),
            "tariff": _("Tariffs"),
            "quota": _("Quotas"),
            "site": _("Houses"),
            "room": _("Rooms"),
            "member-invitation": _("Invitations of members"),
            "people-import": _("Imports of members"),
            "departure": _("Departures"),
            "move": _("Moves"),
            "announcement": _("Announcements"),
        },
    ),
    (
        _("Addresses and ports"),
        {
            "pool": _("Pools"),
            "address": _("Addresses"),
            "mapping": _("NAT mappings"),
            "forward": _("Port forwards"),
            "pinhole": _("IPv6 pinholes"),
            "portrules": _("Ports of members"),
            "enquiry": _("Who had an address"),
        },
    ),
    (
        _("Bans and blocks"),
        {
            "banlist": _("Ban lists"),
            "ban": _("Bans"),
            "allowentry": _("Allow list"),
            "feed": _("Feeds"),
            "block": _("Blocks"),
            "notice": _("Notice page"),
            "reachable": _("Reachable while blocked"),
            "listener": _("Listeners"),
        },
    ),
    (
        _("Traffic"),
        {
            "usage": _("Usage by member"),
            "address-usage": _("Usage by address"),
            "ratelimit": _("Rate limits"),
            "uplink": _("Uplinks"),
            "fairshare": _("Fair share"),
        },
    ),
    (
        _("Gateways"),
        {
            "gateway": _("Gateways"),
            "joining": _("Joining machines"),
            "group": _("Gateway groups"),
            "protection": _("Protection"),
            "limits": _("Limits"),
            "profile": _("Profile"),
            "failover": _("Failover"),
        },
    ),
    (
        _("Rollouts"),
        {"rollout": _("Rollouts"), "revision": _("Revisions"), "approval": _("Approvals"), "hold": _("Holds")},
    ),
    (
        _("Tickets"),
        {"ticket": _("Tickets"), "answer": _("Bulk answers"), "canned": _("Canned answers")},
    ),
    (
        _("The portal"),
        {
            "settings": _("Settings"),
            "person": _("Accounts"),
            "rolechange": _("Changes of roles"),
            "invitation": _("Invitations"),
            "token": _("Own tokens"),
            "alarm": _("Alarms"),
            "silence": _("Silences"),
            "channel": _("Channels for alarms"),
            "shift": _("Shifts of the duty rota"),
            "calendar": _("Calendars of the duty rota"),
            "incident": _("Incidents"),
            "webhook": _("Webhooks"),
            "delivery": _("Webhook deliveries"),
            "export": _("Exports"),
            "metric": _("Metrics"),
        },
    ),
)


EVERYTHING: Final = _("everything")


def get_collection_name(name: str) -> str | Promise:
    """Return the collection's name in words, or the given name if there is no such collection any more."""
    words = {"*": EVERYTHING} | {each: said for _group, found in GROUPS for each, said in found.items()}
    return words.get(name, name)


def iter_collection_groups(wanted: Callable[[str], bool]) -> Iterator[tuple[Promise, list[tuple[str, Promise]]]]:
    """Yield the groups that contain a wanted collection, in order: the group's name, and its collections as (name, words)."""
    for words, collections in GROUPS:
        found = [(name, called) for name, called in collections.items() if wanted(name)]
        if found:
            yield words, found
