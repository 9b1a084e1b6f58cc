"""Needs that follow from the roles of gateways in failover: nobody or two carry a family, or nothing would take over."""

from collections.abc import Iterator
from datetime import datetime

from django.utils.translation import gettext as _

from apps.desk.selectors.need import AttentionItem, find_page_url
from apps.gateways.roles.picture import build_roles_picture, list_managed_groups
from apps.gateways.roles.problems import list_problems
from apps.lib.ui.states import StateKind, StateLabel


def iter_attention_items(now: datetime) -> Iterator[AttentionItem]:
    """Yield one need for each group whose roles are not well: the worst problem, and how many more there are."""
    for group in list_managed_groups():
        problems = [each for each in list_problems(build_roles_picture(group), now) if each.kind is not StateKind.PLAIN]
        if problems:
            more = _("%(number)d more") % {"number": len(problems) - 1} if len(problems) > 1 else ""
            yield AttentionItem(
                f"roles-{group.pk}",
                StateLabel(problems[0].kind, _("Failover")),
                problems[0].text,
                more,
                None,
                _("Look at the roles"),
                find_page_url("gateways:failover", group.pk),
            )
