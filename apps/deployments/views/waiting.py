"""What waits for a second person: the list, one of them, the approval, the refusal."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import person, staff_page
from apps.accounts.recent_auth import recently_authenticated
from apps.deployments import selectors
from apps.deployments.approvals import refusal
from apps.deployments.approvals.presentation import waiting
from apps.deployments.approvals.texts import asked_by, decided, kind_of, state, title, why
from apps.deployments.forms import ApprovalForm, RefusalForm
from apps.deployments.models import HeldBack
from apps.deployments.revision_pages.delta_text import shown
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.rollouts import decisions
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import explain

MOST_PER_GROUP = 50
LAST = 20


@staff_page
def waits(request: HttpRequest) -> HttpResponse:
    """What waits now, and what became of what waited."""
    rows = [(held, title(held), why(held), asked_by(held)) for held in selectors.waiting()]
    over = selectors.held_back().exclude(state=HeldBack.State.WAITING)[:LAST]
    decisions_made = [(held, kind_of(held), state(held), decided(held), asked_by(held)) for held in over]
    return render(request, "deployments/waits.html", {"rows": rows, "over": decisions_made})


@staff_page
def held(request: HttpRequest, pk: int) -> HttpResponse:
    """One of them: whom it concerns, element by element, and the form of its approval."""
    found = _found(pk)
    return _page(request, found, ApprovalForm(found, person(request)))


def _found(pk: int) -> HeldBack:
    return get_object_or_404(HeldBack.objects.select_related("group", "decided_by"), pk=pk)


def _page(request: HttpRequest, found: HeldBack, form: ApprovalForm, *, conflict: str = "", status: int = 200) -> HttpResponse:
    context = {
        "each": waiting(found, person(request)),
        "form": form,
        "conflict": conflict,
        "state": state(found),
        "decided": decided(found),
        "delta": shown(found.text, MOST_PER_GROUP),
        "cut": len(found.text) >= SHOWN_DELTA,
    }
    return render(request, "deployments/held.html", context, status=status)


@staff_page
@require_POST
@recently_authenticated
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Let go out what the page showed; when something else waits by now, the page says so and shows that."""
    by, found = person(request), _found(pk)
    form = ApprovalForm(found, by, request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    try:
        decisions.approve(found, digest=form.cleaned_data["digest"], by=by, signed_in_again=form.signs_in_again)
    except Conflict as conflict:
        return _changed(request, pk, conflict)
    except Problem as problem:
        explain(form, problem)
        return _page(request, _found(pk), form, status=422)
    messages.success(request, _("Approved. It goes out in a moment, as the next rollout."))
    return redirect("deployments:held", found.pk)


def _changed(request: HttpRequest, pk: int, conflict: Conflict) -> HttpResponse:
    """What waits by now, instead of what was decided about."""
    found = _found(pk)
    return _page(request, found, ApprovalForm(found, person(request)), conflict=str(conflict), status=409)


@staff_page
@recently_authenticated
def refuse(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo what waits, for a reason; first the page says what that restores."""
    by, found = person(request), _found(pk)
    form = RefusalForm(found, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            left = refusal.refuse(found, digest=form.cleaned_data["digest"], reason=form.cleaned_data["reason"], by=by)
        except Conflict as conflict:
            return _changed(request, pk, conflict)
        except Problem as problem:
            explain(form, problem)
        else:
            _say_what_is_left(request, left)
            return redirect("deployments:held", pk)
    context = {"each": waiting(found, by), "form": form}
    return render(request, "deployments/refuse.html", context, status=422 if form.is_bound else 200)


def _say_what_is_left(request: HttpRequest, left: list[str]) -> None:
    if left:
        messages.warning(request, _("Refused. This could not be restored: %(things)s") % {"things": " ".join(left)})
    else:
        messages.success(request, _("Refused. Everything is as it was before, and whoever asked gets a mail."))


@staff_page
def text(_request: HttpRequest, pk: int) -> HttpResponse:
    """What waits, as nft text, as far as it is kept; of management what changes, line by line."""
    found = get_object_or_404(HeldBack, pk=pk)
    response = HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="held-back-{found.pk}.nft"'
    return response
