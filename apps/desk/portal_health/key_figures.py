"""The figures at the top of the page: size, disk, connections, transaction, queues, backup; each beside what makes it good or bad."""

from collections.abc import Collection
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.gateways.health.presentation import KeyFigure
from apps.lib.message_broker import get_broker_name
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind
from apps.operations.portal_health.figures import BrokerLevels, DiskSpace, OpenTransaction, PortalFigures
from apps.operations.portal_health.growth import SHORTEST, DatabaseGrowth
from apps.operations.portal_health.models import BackupNote


def build_figures(
    figures: PortalFigures, growth: DatabaseGrowth | None, backup: BackupNote | None, rules: Collection[str], now: datetime
) -> list[KeyFigure]:
    """Return the figures. rules: those that found something, which colours their figures."""

    def find_kind(*names: str) -> StateKind:
        return StateKind.WARN if set(names) & set(rules) else StateKind.PLAIN

    levels = figures.database
    most = _("of at most %(number)s") % {"number": formats.format_number(levels.most_connections)}
    return [
        KeyFigure(_("Database"), formats.format_volume(levels.octets), _describe_growth(growth), find_kind("bloat", "wraparound")),
        _build_disk(figures.disk, growth, find_kind("database_disk")),
        KeyFigure(_("Connections to it"), formats.format_number(levels.connections), most, find_kind("database_connections")),
        _build_transaction(figures.transaction, find_kind("old_transaction")),
        _build_queues(figures.broker, find_kind("queue_behind", "broker_full")),
        _build_backup(backup, find_kind("backup_old"), now),
    ]


def _describe_growth(growth: DatabaseGrowth | None) -> str:
    if growth is None:
        return _("its growth is known after %(days)s days") % {"days": SHORTEST}
    words = _("grows by %(octets)s a day") if growth.octets >= 0 else _("shrinks by %(octets)s a day")
    return words % {"octets": formats.format_volume(abs(growth.octets))}


def _build_disk(disk: DiskSpace | None, growth: DatabaseGrowth | None, kind: StateKind) -> KeyFigure:
    name = _("Free on its disk")
    if disk is None:
        return KeyFigure(name, _("unknown"), _("it is elsewhere, or the portal’s account may not see it"), kind)
    below = _("of %(octets)s") % {"octets": formats.format_volume(disk.octets)}
    if growth and growth.full:
        below = _("of %(octets)s; full on %(day)s") % {
            "octets": formats.format_volume(disk.octets),
            "day": formats.format_day(growth.full),
        }
    return KeyFigure(name, formats.format_volume(disk.free), below, kind)


def _build_transaction(found: OpenTransaction | None, kind: StateKind) -> KeyFigure:
    name = _("Oldest transaction")
    if found is None:
        return KeyFigure(name, _("none"), _("open at that moment"), kind)
    return KeyFigure(name, formats.format_duration(found.seconds), found.program or _("a program without a name"), kind)


def _build_queues(broker: BrokerLevels, kind: StateKind) -> KeyFigure:
    name = _("Oldest waiting task")
    if broker.error:
        return KeyFigure(name, _("unknown"), _("%(broker)s does not answer") % {"broker": get_broker_name()}, StateKind.BAD)
    number = sum(each.messages for each in broker.queues)
    if not number:
        return KeyFigure(name, _("none"), _("all queues are empty"), kind)
    ages = [each.oldest for each in broker.queues if each.oldest is not None]
    words = ngettext("%(count)s task waits", "%(count)s tasks wait", number) % {"count": formats.format_number(number)}
    return KeyFigure(name, formats.format_duration(max(ages, default=None)), words, kind)


def _build_backup(backup: BackupNote | None, kind: StateKind, now: datetime) -> KeyFigure:
    name = _("Last backup")
    if backup is None:
        return KeyFigure(name, _("unknown"), _("none was noted"), kind)
    place = backup.place if backup.octets is None else f"{formats.format_volume(backup.octets)}, {backup.place}"
    return KeyFigure(name, formats.format_ago(backup.at, now), place, kind)
