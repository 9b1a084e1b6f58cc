"""Pages of held-back parts: the list, a single one, approval and refusal."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.suspended_submission import has_confirmed_password
from apps.deployments import selectors
from apps.deployments.approvals import refusal
from apps.deployments.approvals.presentation import build_held_back_context
from apps.deployments.approvals.texts import (
    build_approval_state_label,
    render_decision,
    render_kind,
    render_reason,
    render_requesters,
    render_title,
)
from apps.deployments.forms import ApprovalForm, RefusalForm
from apps.deployments.models import HeldBack
from apps.deployments.revision_pages.delta_text import build_excerpt
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.rollouts import decisions
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form

MOST_PER_GROUP = 50
LAST = 20


@staff_page
def waiting_list(request: HttpRequest) -> HttpResponse:
    """List what waits now, and recent decisions."""
    rows = [(held, render_title(held), render_reason(held), render_requesters(held)) for held in selectors.list_parts_awaiting_approval()]
    over = selectors.list_held_back_parts().exclude(state=HeldBack.State.WAITING)[:LAST]
    decisions_made = [
        (held, render_kind(held), build_approval_state_label(held), render_decision(held), render_requesters(held)) for held in over
    ]
    return render(request, "deployments/waits.html", {"rows": rows, "over": decisions_made})


@staff_page
def held_back_part(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a held-back part: who is concerned, its elements, and the approval form."""
    found = _get_held_back_part(pk)
    return _render_page(request, found, ApprovalForm(found, get_signed_in_user(request)))


def _get_held_back_part(pk: int) -> HeldBack:
    return get_object_or_404(HeldBack.objects.select_related("group", "decided_by"), pk=pk)


def _render_page(request: HttpRequest, found: HeldBack, form: ApprovalForm, *, conflict: str = "", status: int = 200) -> HttpResponse:
    context = {
        "each": build_held_back_context(found, get_signed_in_user(request)),
        "form": form,
        "conflict": conflict,
        "state": build_approval_state_label(found),
        "decided": render_decision(found),
        "delta": build_excerpt(found.text, MOST_PER_GROUP),
        "cut": len(found.text) >= SHOWN_DELTA,
    }
    return render(request, "deployments/held.html", context, status=status)


@staff_page
@require_POST
@require_recent_auth
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve what the page showed. If something else waits by now, the page says so and shows that."""
    by, found = get_signed_in_user(request), _get_held_back_part(pk)
    form = ApprovalForm(found, by, request.POST, password_confirmed=has_confirmed_password(request))
    if not form.is_valid():
        return _render_page(request, found, form, status=422)
    try:
        decisions.approve_part(found, digest=form.cleaned_data["digest"], by=by, signed_in_again=form.signs_in_again)
    except Conflict as conflict:
        return _render_changed(request, pk, conflict)
    except Problem as problem:
        add_problem_to_form(form, problem)
        return _render_page(request, _get_held_back_part(pk), form, status=422)
    messages.success(request, _("Approved. It goes out in a moment, as the next rollout."))
    return redirect("deployments:held", found.pk)


def _render_changed(request: HttpRequest, pk: int, conflict: Conflict) -> HttpResponse:
    """Show what waits now, instead of what the user decided about."""
    found = _get_held_back_part(pk)
    return _render_page(request, found, ApprovalForm(found, get_signed_in_user(request)), conflict=str(conflict), status=409)


@staff_page
@require_recent_auth
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Refuse and undo what waits, for a reason. The page first shows what that restores."""
    by, found = get_signed_in_user(request), _get_held_back_part(pk)
    form = RefusalForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            left = refusal.refuse_part(found, digest=form.cleaned_data["digest"], reason=form.cleaned_data["reason"], by=by)
        except Conflict as conflict:
            return _render_changed(request, pk, conflict)
        except Problem as problem:
            add_problem_to_form(form, problem)
        else:
            _say_what_is_left(request, left)
            return redirect("deployments:held", pk)
    context = {"each": build_held_back_context(found, by), "form": form}
    return render(request, "deployments/refuse.html", context, status=422 if form.is_bound else 200)


def _say_what_is_left(request: HttpRequest, left: list[str]) -> None:
    if left:
        messages.warning(request, _("Refused. This could not be restored: %(things)s") % {"things": " ".join(left)})
    else:
        messages.success(request, _("Refused. Everything is as it was before, and those who asked for it get a mail."))


@staff_page
def text(_request: HttpRequest, pk: int) -> HttpResponse:
    """Return the stored nft text of what waits; for a change of management, the changed settings line by line."""
    found = get_object_or_404(HeldBack, pk=pk)
    response = HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="held-back-{found.pk}.nft"'
    return response
