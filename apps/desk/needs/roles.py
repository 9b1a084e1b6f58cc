"""Needs that follow from the roles of gateways in failover: nobody or two carry a family, or nothing would take over."""

from collections.abc import Collection, Iterator
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from apps.desk.needs.need import AttentionItem
from apps.gateways.roles.picture import build_roles_picture, list_managed_groups
from apps.gateways.roles.problems import list_problems
from apps.lib.ui.states import StateKind, StateLabel


def iter_attention_items(now: datetime, away: Collection[int]) -> Iterator[AttentionItem]:
    """Yield one need for each group whose roles are not well: the worst problem, and how many more there are.

    away: ids of gateways that do not answer, which is a need of its own; that they do not tell their roles either is no second one.
    """
    for group in list_managed_groups():
        picture = build_roles_picture(group)
        found, everywhere = list_problems(picture, now), frozenset(each.gateway_id for each in picture.statuses)
        problems = [each for each in found if each.kind is not StateKind.PLAIN and each.silent_gateway not in away]
        if problems:
            more = _("%(number)d more") % {"number": len(problems) - 1} if len(problems) > 1 else ""
            yield AttentionItem(
                f"roles-{group.pk}",
                StateLabel(problems[0].kind, _("Failover")),
                problems[0].text,
                more,
                None,
                _("Look at the roles"),
                resolve_url("gateways:failover", group.pk),
                gateways=frozenset[int]().union(*(each.gateways or everywhere for each in problems)),
            )
