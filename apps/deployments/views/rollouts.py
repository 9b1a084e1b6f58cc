"""Pages of rollouts: the list, a single one with its evidence, deploy, retry, stop, pause and resume."""

from collections.abc import Callable, Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.models import User
from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.deployments import selectors, services
from apps.deployments.approvals.presentation import build_held_back_context
from apps.deployments.approvals.texts import render_all_waiting, render_reason, render_title
from apps.deployments.forms import ApprovalForm
from apps.deployments.models import HeldBack, Revision, Rollout
from apps.deployments.revision_pages import contents
from apps.deployments.revision_pages.change_summary import compute_touched_share, parse_summary_lines, render_kind_name
from apps.deployments.revision_pages.delta_text import build_excerpt
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.rollouts import decisions, gateway_progress, progress
from apps.deployments.rollouts.abort_preview import preview_abort
from apps.deployments.rollouts.warnings import list_warnings
from apps.lib.errors import Conflict, Problem
from apps.lib.web.paginators import DeferredJoinPaginator
from apps.network.gateway_sentences import translate_rollout_error

PER_PAGE = 50
MOST_PER_GROUP = 20


@staff_page
def rollouts(request: HttpRequest) -> HttpResponse:
    """List rollouts, newest first; the first page refreshes itself."""
    chosen, counts = request.GET.get("state", ""), selectors.count_rollouts()
    listed = DeferredJoinPaginator(selectors.list_rollouts_in_state(chosen), PER_PAGE, count=counts.get(chosen, counts["all"]))
    page = listed.get_page(request.GET.get("page"))
    now = timezone.now()
    rows = [progress.build_rollout_row(rollout, now) for rollout in page]
    truths = progress.build_status_lines(selectors.list_newest_per_group().prefetch_related("steps__gateway"))
    held = [(each, render_title(each), render_reason(each)) for each in selectors.list_parts_awaiting_approval()]
    part = "#table" if request.headers.get("HX-Target") == "rollouts" else ""
    context = {"page": page, "rows": rows, "counts": counts, "chosen": chosen, "truths": truths}
    context |= {"held": held, "holds": selectors.list_revision_holds()}
    return render(request, f"deployments/rollouts.html{part}", context)


@staff_page
def rollout(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a rollout's progress and its changes, element by element."""
    return render(
        request,
        "deployments/rollout.html",
        _build_context(get_object_or_404(selectors.list_rollouts(), pk=pk), get_signed_in_user(request)),
    )


@staff_page
def rollout_live_part(request: HttpRequest, pk: int) -> HttpResponse:
    """Return the parts of the page that change while the rollout is open; 204 if the page is up to date.

    The approval forms are sent only when other parts wait than before: the user may be typing there.
    """
    rollout = get_object_or_404(selectors.list_rollouts(), pk=pk)
    held = [] if selectors.find_newer_rollout(rollout) else list(selectors.list_parts_awaiting_approval().filter(group=rollout.group_id))
    seen = request.GET.get("seen", "")
    if seen == _compute_stamp(rollout, held):
        return HttpResponse(status=204)
    swapped = {"oob": True, "others_wait": not seen.endswith(_compute_waits_stamp(held))}
    return render(request, "deployments/rollout.html#now", _build_context(rollout, get_signed_in_user(request)) | swapped)


def _build_context(rollout: Rollout, by: User) -> dict[str, object]:
    newer, states = selectors.find_newer_rollout(rollout), selectors.map_states_by_gateway(rollout)
    memory = {name for name, state in states.items() if state.in_memory}
    held = [] if newer else list(selectors.list_parts_awaiting_approval().filter(group=rollout.group_id))
    hold = selectors.list_revision_holds().filter(group=rollout.group_id).first()
    shown_lanes = gateway_progress.list_gateway_progress(rollout, timezone.now(), states, newer)
    return {
        "row": progress.build_rollout_row(rollout, timezone.now()),
        "rollout": rollout,
        "truth": progress.build_status_line(rollout, newer, memory),
        "held_words": render_all_waiting(held),
        "warnings": list_warnings(rollout.group) if progress.is_rollout_open(rollout) else [],
        "stamp": _compute_stamp(rollout, held),
        "gone_wrong": "" if any(step.error for step in rollout.steps.all()) else translate_rollout_error(rollout.error),
        "open": progress.is_rollout_open(rollout),
        "lanes": shown_lanes,
        "on_trial": any(lane.trial for lane in shown_lanes),
        "held": [(build_held_back_context(each, by), ApprovalForm(each, by)) for each in held],
        "hold": hold,
        "lines": [
            (render_kind_name(line.kind), line, compute_touched_share(line), _count_held_back(held, line.kind))
            for line in parse_summary_lines(rollout.revision.changes)
        ],
        "delta": build_excerpt(rollout.revision.delta, MOST_PER_GROUP),
        "newer": newer,
        "cut": len(rollout.revision.delta) >= SHOWN_DELTA,
        "older": selectors.find_previous_rollout(rollout),
        "back_to": None if newer or hold else _find_rollback_target(rollout),
    }


def _find_rollback_target(rollout: Rollout) -> Revision | None:
    """Return the revision that all gateways confirmed before this one, if its content is stored."""
    last = selectors.find_previous_confirmed_rollout(rollout)
    return last.revision if last and contents.is_content_stored(last.revision) else None


def _compute_stamp(rollout: Rollout, held: Iterable[HeldBack]) -> str:
    """Return a value that changes with everything that moves on the page."""
    return progress.compute_stamp(rollout) + _compute_waits_stamp(held)


def _compute_waits_stamp(held: Iterable[HeldBack]) -> str:
    return f"-waits-{'-'.join(str(each.pk) for each in held)}"


def _count_held_back(held: Iterable[HeldBack], kind: str) -> int:
    """Return the number of held-back removals of the kind."""
    return sum(each.removed for each in held if each.kind == kind)


@staff_page
def delta(_request: HttpRequest, pk: int) -> HttpResponse:
    """Return the stored nft text of the changes."""
    revision = get_object_or_404(Revision, rollouts=pk)
    response = HttpResponse(revision.delta, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{revision}.nft"'
    return response


@staff_page
@require_POST
def deploy(request: HttpRequest) -> HttpResponse:
    """Ask a worker to deploy now."""
    try:
        services.request_reconcile(by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("deployments:rollouts")
    messages.success(request, _("Requested. If the gateways do not run the desired state, a rollout appears here in a moment."))
    return redirect("deployments:rollouts")


@staff_page
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Retry what failed, with the current desired state."""
    rollout = get_object_or_404(Rollout.objects.select_related("revision"), pk=pk)
    try:
        services.request_reconcile(by=get_signed_in_user(request), force=True)
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("deployments:rollouts")
    messages.success(
        request,
        _("Retry requested. A new rollout with the current desired state brings what %(revision)s missed.") % {"revision": rollout},
    )
    return redirect("deployments:rollouts")


@staff_page
def stop(request: HttpRequest, pk: int) -> HttpResponse:
    """Abort a rollout: what is on trial reverts. The page first shows the effect on each gateway."""
    rollout = get_object_or_404(selectors.list_rollouts(), pk=pk)
    if request.method == "POST":
        done = _("Stop requested. What is on trial goes back; what has been confirmed stays.")
        return _apply_decision(request, rollout, decisions.abort_rollout, done)
    effects = preview_abort(rollout, selectors.map_states_by_gateway(rollout))
    return render(request, "deployments/stop.html", {"rollout": rollout, "effects": effects, "open": progress.is_rollout_open(rollout)})


@staff_page
@require_POST
def pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a rollout before the next gateway."""
    done = _("Pause requested. A gateway that is being updated is finished first.")
    return _apply_decision(request, get_object_or_404(selectors.list_rollouts(), pk=pk), decisions.pause_rollout, done)


@staff_page
@require_POST
def resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Resume a rollout."""
    return _apply_decision(
        request, get_object_or_404(selectors.list_rollouts(), pk=pk), decisions.resume_rollout, _("The rollout goes on.")
    )


def _apply_decision(request: HttpRequest, rollout: Rollout, decide: Callable[..., None], done: str) -> HttpResponse:
    try:
        decide(rollout, by=get_signed_in_user(request))
        messages.success(request, done)
    except Conflict as conflict:
        messages.warning(request, str(conflict))
    return redirect("deployments:rollout", rollout.pk)
