"""Page of a restored database: how each gateway differs from it, and the button that lets the gateways follow it."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.deployments.adoption.restored_page import list_lacking_objects
from apps.deployments.models import DatabaseRestore, RestoreDifference
from apps.deployments.restored_database import restore_hold
from apps.deployments.restored_database.comparison_digest import digest_comparison, list_compared_gateways, map_differences
from apps.deployments.revision_pages.change_summary import compute_touched_share, parse_summary_lines, render_kind_name, render_summary
from apps.deployments.revision_pages.delta_text import DeltaExcerpt, build_excerpt
from apps.lib.errors import Conflict
from apps.network.models import Gateway
from firewall.summary import SummaryLine

MOST_PER_GROUP = 20  # rows of the excerpt


@dataclass(frozen=True, slots=True)
class GatewayDifference:
    """A gateway, what a rollout would change there in words and by kind, and an excerpt of it; `found` is None until it is compared."""

    gateway: Gateway
    found: RestoreDifference | None
    words: str
    lines: list[tuple[str, SummaryLine, float, int]]
    excerpt: DeltaExcerpt | None


@staff_page
def restored_database(request: HttpRequest) -> HttpResponse:
    """Show what differs since the restore; continue with it."""
    restore = restore_hold.find_last_restore()
    if request.method == "POST" and restore:
        return _agree(request, restore)
    is_open = restore is not None and restore.agreed is None
    context = {"restore": restore, "is_open": is_open, **(_build_comparison(restore) if restore and is_open else {})}
    return render(request, "deployments/restored.html", context)


def _agree(request: HttpRequest, restore: DatabaseRestore) -> HttpResponse:
    try:
        restore_hold.agree(restore, by=get_signed_in_user(request), seen=request.POST.get("seen", ""))
    except Conflict as conflict:
        messages.warning(request, str(conflict))
        return redirect("deployments:restored")
    messages.success(request, _("The gateways get what the restored database asks for. The rollout appears here in a moment."))
    return redirect("deployments:rollouts")


def _build_comparison(restore: DatabaseRestore) -> dict[str, object]:
    """Return the comparison for the page, and its digest, which the form sends back."""
    gateways, found = list(list_compared_gateways()), map_differences(restore)
    differences = [_build_difference(each, found.get(each.pk)) for each in gateways]
    lacking = list_lacking_objects({each.name: found[each.pk] for each in gateways if each.pk in found})
    return {"differences": differences, "lacking": lacking, "seen": digest_comparison(gateways, found)}


def _build_difference(gateway: Gateway, found: RestoreDifference | None) -> GatewayDifference:
    if found is None or not found.target:
        return GatewayDifference(gateway, found, "", [], None)
    lines = parse_summary_lines(found.changes)
    rows = [(render_kind_name(line.kind), line, compute_touched_share(line), 0) for line in lines]
    words = render_summary(lines, rules=found.chains)
    return GatewayDifference(gateway, found, words, rows, build_excerpt(found.text, MOST_PER_GROUP) if found.text else None)
