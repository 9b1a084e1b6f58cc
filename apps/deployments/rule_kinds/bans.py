"""Bans of enabled lists."""

from datetime import datetime
from ipaddress import ip_network

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.bans.models import Ban, BanList
from apps.bans.services import ban_prefix, change_list
from apps.deployments.rule_kinds.ban_entries import NOT_ENDED_SQL, describe_ban_entry, parse_prefix_note
from apps.deployments.rule_kinds.event_sources import BAN, BAN_LIST
from apps.deployments.rule_kinds.kind import (
    MOST_TOUCHED,
    AffectedThing,
    ChangeNoteFormat,
    ElementOrigin,
    ObjectReader,
    RemovalDefinition,
    RuleKind,
    SetElement,
    TimedRows,
    parse_network,
)
from apps.deployments.rule_kinds.restoring import get_last_deletion
from apps.lib.errors import Problem
from firewall.policy import BanDirection, BanSpec
from firewall.sets import ObjectKind

_ENDS = "CASE WHEN bool_or(b.expires IS NULL) FILTER {way} THEN 0 ELSE ceil(extract(epoch FROM max(b.expires) FILTER {way}))::bigint END"

# A prefix on several lists is one ban in the kernel: with the comment of the oldest, in all their directions, each until the last
# of them ends. Two directions with different ends are two elements, so that each expires by itself.
_QUERY = f"""
    SELECT g.id, g.prefix, g.comment, way.ends, way.direction FROM (
        SELECT min(b.id) AS id, b.prefix, (array_agg(b.comment ORDER BY b.id))[1] AS comment,
            {_ENDS.format(way="(WHERE b.direction <> 'out')")} AS ends_in, {_ENDS.format(way="(WHERE b.direction <> 'in')")} AS ends_out
        FROM bans_ban b JOIN bans_banlist l ON l.id = b.list_id
        WHERE l.enabled AND {NOT_ENDED_SQL.format(row="b")} {{only}}
        GROUP BY b.prefix
    ) g, LATERAL (
        SELECT 'both', ends_in WHERE ends_in = ends_out
        UNION ALL SELECT 'in', ends_in WHERE ends_in IS DISTINCT FROM ends_out AND ends_in IS NOT NULL
        UNION ALL SELECT 'out', ends_out WHERE ends_in IS DISTINCT FROM ends_out AND ends_out IS NOT NULL
    ) way(direction, ends) ORDER BY g.prefix, way.direction
"""  # noqa: S608 - constants
_OF_LISTS = f"SELECT DISTINCT prefix::text FROM bans_ban WHERE list_id = ANY(%s::bigint[]) LIMIT {MOST_TOUCHED} + 1"  # noqa: S608 - a constant


def _build_ban(pk: int, prefix: str, comment: str, expires: int, direction: str) -> BanSpec:
    return BanSpec(pk, parse_network(prefix), comment, expires, BanDirection(direction))


def _restore(thing: AffectedThing, by: User) -> None:
    there = Ban.objects.filter(prefix=ip_network(thing.prefix)).select_related("list").first()
    if there is None:
        event = get_last_deletion("bans", "BanEvent", prefix=ip_network(thing.prefix))
        into = BanList.objects.filter(pk=event.list_id).first()
        if into is None:
            raise Problem(_("Its list was deleted. Import it again."))
        ban_prefix(list=into, prefix=event.prefix, comment=event.comment, expires=event.expires, direction=event.direction, author=by)
    elif not there.list.enabled:
        row = there.list
        change_list(list=row, version=row.version, name=row.name, description=row.description, enabled=True, by=by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the bans of this prefix on all enabled lists."""
    bans = Ban.objects.filter(prefix=found.prefix, list__enabled=True).select_related("list", "author").order_by("pk")
    return [_build_origin(ban, found.at) for ban in bans]


def _build_origin(ban: Ban, at: datetime) -> ElementOrigin:
    note = ", ".join([describe_ban_entry(ban, at), _("list %(list)s") % {"list": ban.list}])
    url = f"{reverse('bans:list', args=[ban.list_id])}?{urlencode({'q': str(ban.prefix)})}"
    return ElementOrigin("ban", _("ban of %(prefix)s") % {"prefix": ban.prefix_text}, note, url)


BANS = RuleKind(
    kind=ObjectKind.BANS,
    name=gettext_lazy("Bans"),
    count=lambda number: ngettext("%(n)s ban", "%(n)s bans", number),
    readers={
        "bans": ObjectReader(
            _QUERY,
            "AND b.prefix = ANY(%(bans)s::cidr[])",
            lambda touched: {"bans": [str(prefix) for prefix in touched.bans]},
            _build_ban,
        )
    },
    list_origins=_list_origins,
    notes=(ChangeNoteFormat("ban", "bans", parse_prefix_note, "list", _OF_LISTS),),
    timed=(TimedRows("ban", "prefix::text", "bans_ban", column="expires"),),
    row_keys={Ban: lambda row: str(row.prefix)},
    removal=RemovalDefinition(
        history="bans.ban",
        label=lambda number: ngettext("ban ends", "bans end", number),
        sentence=lambda number: ngettext("%(n)s ban ends:", "%(n)s bans end:", number),
        undo=gettext_lazy("bans them again"),
        sources=(BAN, BAN_LIST),
        restore=_restore,
        of_members=False,
    ),
)
