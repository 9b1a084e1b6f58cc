"""Pages of revisions: the list, a single one, the comparison of two, the rollback, and the release of a held group."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.suspended_submission import has_confirmed_password
from apps.deployments import selectors
from apps.deployments.forms import RollbackForm
from apps.deployments.models import HeldBack, Hold, Revision
from apps.deployments.revision_pages import contents, presentation, ruleset_comparison
from apps.deployments.revision_pages.change_summary import compute_touched_share, parse_summary_lines, render_kind_name, render_summary
from apps.deployments.revision_pages.contents import ContentNotStored
from apps.deployments.revision_pages.delta_text import build_excerpt
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.revision_pages.presentation import RulesetPreview
from apps.deployments.rollouts import decisions, progress, rollback
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web import query_params
from apps.network.models import GatewayGroup
from firewall.render import render_delta

PER_PAGE = 50
MOST_PER_GROUP = 20


@staff_page
def revision_list(request: HttpRequest) -> HttpResponse:
    """List revisions, newest first: all, those with stored content, or rollbacks."""
    chosen = request.GET.get("which", "")
    page = Paginator(presentation.list_revisions(chosen), PER_PAGE).get_page(request.GET.get("page"))
    rows = presentation.build_revision_rows(page, timezone.now())
    kept = [each.revision.pk for each in rows if each.kept]
    context = {
        "page": page,
        "rows": rows,
        "newest": kept[:1],
        "before": kept[1:2],
        "chosen": chosen,
        "counts": presentation.count_revisions(),
        "oldest": presentation.find_oldest_kept(),
    }
    return render(request, "deployments/revisions.html", context)


@staff_page
def revision(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what a revision changed, which gateways confirmed it and when, and its rollouts."""
    found = get_object_or_404(Revision.objects.select_related("by", "group", "again"), pk=pk)
    earlier = Revision.objects.filter(group=found.group_id, pk__lt=found.pk).defer("delta").order_by("-pk").first()
    later = Revision.objects.filter(group=found.group_id, pk__gt=found.pk).defer("delta").order_by("pk").first()
    rollouts = selectors.list_rollouts_in_state("").filter(revision=found)
    context = {
        "revision": found,
        "gateways": presentation.list_confirmations(found),
        "rows": [progress.build_rollout_row(rollout, timezone.now()) for rollout in rollouts],
        "kept": contents.is_content_stored(found) or contents.has_no_newer_content(found),
        "oldest": presentation.find_oldest_kept(),
        "older": earlier,
        "newer": later,
        "now_runs": presentation.find_running_revision(found.group),
        "hold": selectors.list_revision_holds().filter(group=found.group_id).first(),
        "words": render_summary(parse_summary_lines(found.changes)) if found.delta else "",
        "lines": [(render_kind_name(line.kind), line, compute_touched_share(line), 0) for line in parse_summary_lines(found.changes)],
        "delta": build_excerpt(found.delta, MOST_PER_GROUP),
        "cut": len(found.delta) >= SHOWN_DELTA,
    }
    return render(request, "deployments/revision.html", context)


def _find_pair(request: HttpRequest) -> tuple[Revision | None, Revision | None]:
    wanted = [query_params.parse_number(request.GET, "from"), query_params.parse_number(request.GET, "to")]
    found = Revision.objects.defer("delta").select_related("group").in_bulk(wanted)
    return found.get(wanted[0]), found.get(wanted[1])


def _compare_pair(request: HttpRequest, before: Revision | None, after: Revision | None) -> RulesetPreview:
    if before is None or after is None:
        return RulesetPreview(None, _("Choose two revisions to compare."))
    if before.group_id != after.group_id:
        return RulesetPreview(None, _("%(before)s and %(after)s belong to different groups.") % {"before": before, "after": after})
    return presentation.preview_comparison(before, after, query_params.parse_text_param(request.GET, "gateway", 40))


@staff_page
def compare(request: HttpRequest) -> HttpResponse:
    """Show the difference between two revisions: in words, then set by set and chain by chain."""
    before, after = _find_pair(request)
    context = {"before": before, "after": after, **presentation.build_preview_context(_compare_pair(request, before, after))}
    return render(request, "deployments/compare.html", context)


@staff_page
def compare_text(request: HttpRequest) -> HttpResponse:
    """Return the whole difference as nft text."""
    before, after = _find_pair(request)
    preview = _compare_pair(request, before, after)
    if before is None or after is None or preview.compared is None:
        return HttpResponse(preview.problem, content_type="text/plain; charset=utf-8", status=404)
    delta = ruleset_comparison.compute_untruncated_delta(before, after, preview.compared.gateway)
    response = HttpResponse(render_delta(delta, now=presentation.read_database_clock()), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{before}-{after}-{preview.compared.gateway}.nft"'
    return response


@staff_page
@require_recent_auth
def roll_back_to_revision(request: HttpRequest, pk: int) -> HttpResponse:
    """Roll back to a revision and hold the group there. The page first shows what that would change, and whether it needs approval."""
    found = get_object_or_404(Revision.objects.select_related("group").defer("delta"), pk=pk)
    two = _needs_two(found)
    sent = request.POST if request.method == "POST" else None
    form = RollbackForm(get_signed_in_user(request), sent, two=two, password_confirmed=has_confirmed_password(request))
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = rollback.roll_back(found, why=given["why"], by=get_signed_in_user(request), alone=given.get("alone", False))
        except Problem as problem:
            add_problem_to_form(form, problem)
        else:
            return _redirect_after_rollback(request, found, made)
    context = {
        "revision": found,
        "form": form,
        "now_runs": presentation.find_running_revision(found.group),
        **presentation.build_preview_context(presentation.preview_rollback(found)),
    }
    context |= {"hold": selectors.list_revision_holds().filter(group=found.group_id).first(), "two": two}
    return render(request, "deployments/back.html", context, status=422 if form.is_bound else 200)


def _needs_two(revision: Revision) -> bool:
    try:
        return rollback.compute_rollback_cost(revision).is_too_high
    except ContentNotStored:
        return False


def _redirect_after_rollback(request: HttpRequest, revision: Revision, made: Hold | HeldBack) -> HttpResponse:
    if isinstance(made, HeldBack):
        messages.success(
            request, _("A rollback to %(revision)s waits for a second person. Nothing has happened yet.") % {"revision": revision}
        )
        return redirect("deployments:held", made.pk)
    messages.success(request, _("The group is on hold at %(revision)s, which goes out in a moment.") % {"revision": revision})
    return redirect("deployments:rollouts")


@staff_page
def release_group(request: HttpRequest, pk: int) -> HttpResponse:
    """Release a held group. The page first shows what would go out."""
    group = get_object_or_404(GatewayGroup, pk=pk)
    if request.method == "POST":
        try:
            decisions.release_revision_hold(group, by=get_signed_in_user(request))
            messages.success(request, _("Released. The desired state goes out in a moment."))
        except Conflict as conflict:
            messages.warning(request, str(conflict))
        return redirect("deployments:rollouts")
    hold = selectors.list_revision_holds().filter(group=group).first()
    preview = presentation.build_preview_context(presentation.preview_release(hold)) if hold else {}
    return render(request, "deployments/release.html", {"group": group, "hold": hold, **preview})
