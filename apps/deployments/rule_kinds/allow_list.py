"""Entries of the allow list: prefixes that no ban reaches."""

from ipaddress import ip_network

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.accounts.models import User
from apps.bans.allow_list import allow_prefix
from apps.bans.models import AllowEntry
from apps.deployments.rule_kinds.ban_entries import NOT_ENDED_SQL, describe_ban_entry, parse_prefix_note
from apps.deployments.rule_kinds.kind import (
    AffectedThing,
    AuthorHistory,
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
from firewall.policy import AllowEntrySpec
from firewall.sets import ObjectKind

_QUERY = f"""
    SELECT e.id, e.prefix, e.comment, coalesce(ceil(extract(epoch FROM e.expires))::bigint, 0) FROM bans_allowentry e
    WHERE {NOT_ENDED_SQL.format(row="e")} {{only}} ORDER BY e.prefix
"""  # noqa: S608 - constants


def _build_entry(pk: int, prefix: str, comment: str, expires: int) -> AllowEntrySpec:
    return AllowEntrySpec(pk, parse_network(prefix), comment, expires)


def _restore(thing: AffectedThing, by: User) -> None:
    if not AllowEntry.objects.filter(prefix=ip_network(thing.prefix)).exists():
        event = get_last_deletion("bans", "AllowEntryEvent", prefix=ip_network(thing.prefix))
        allow_prefix(prefix=event.prefix, comment=event.comment, expires=event.expires, author=by)


def _list_origins(found: SetElement) -> list[ElementOrigin]:
    """Return the allow entry of this prefix."""
    entries = AllowEntry.objects.filter(prefix=found.prefix).select_related("author")
    words = _("allow entry of %(prefix)s")
    return [
        ElementOrigin(
            "allowed", words % {"prefix": each.prefix_text}, describe_ban_entry(each, found.at), reverse("bans:allow_entry", args=[each.pk])
        )
        for each in entries
    ]


ALLOWED = RuleKind(
    kind=ObjectKind.ALLOWED,
    name=gettext_lazy("Allow list"),
    count=lambda number: ngettext("%(n)s allow entry", "%(n)s allow entries", number),
    readers={
        "allowed": ObjectReader(
            _QUERY,
            "AND e.prefix = ANY(%(allowed)s::cidr[])",
            lambda touched: {"allowed": [str(prefix) for prefix in touched.allowed]},
            _build_entry,
        )
    },
    list_origins=_list_origins,
    notes=(ChangeNoteFormat("allowed", "allowed", parse_prefix_note),),
    timed=(TimedRows("allowed", "prefix::text", "bans_allowentry", column="expires"),),
    row_keys={AllowEntry: lambda row: str(row.prefix)},
    removal=RemovalDefinition(
        history="bans.allowentry",
        label=lambda number: ngettext("allow entry ends", "allow entries end", number),
        sentence=lambda number: ngettext("%(n)s allow entry ends:", "%(n)s allow entries end:", number),
        undo=gettext_lazy("puts them on the allow list again"),
        sources=(AuthorHistory("thing", "bans_allowentryevent", "event.prefix = thing.prefix"),),
        restore=_restore,
        of_members=False,
    ),
)
