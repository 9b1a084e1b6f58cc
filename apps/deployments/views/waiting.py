"""What waits for a second person: the list, one of them, and the approval."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import person, staff_page
from apps.deployments import decisions, selectors
from apps.deployments.delta import shown
from apps.deployments.describing import SHOWN_DELTA
from apps.deployments.forms import ApprovalForm
from apps.deployments.models import HeldBack
from apps.deployments.waiting import decided, kind_of, state, title, waiting, why
from apps.lib.errors import Conflict, Problem
from apps.lib.forms import explain

MOST_PER_GROUP = 50
LAST = 20


@staff_page
def waits(request: HttpRequest) -> HttpResponse:
    """What waits now, and what became of what waited."""
    rows = [(held, title(held), why(held)) for held in selectors.waiting()]
    over = selectors.held_back().exclude(state=HeldBack.State.WAITING)[:LAST]
    decisions_made = [(held, kind_of(held), state(held), decided(held)) for held in over]
    return render(request, "deployments/waits.html", {"rows": rows, "over": decisions_made})


@staff_page
def held(request: HttpRequest, pk: int) -> HttpResponse:
    """One of them: whom it concerns, element by element, and the form of its approval."""
    found = get_object_or_404(HeldBack.objects.select_related("group", "asked_by", "decided_by"), pk=pk)
    return _page(request, found, ApprovalForm(found, person(request)))


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
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    """Let go out what the page showed; when something else waits by now, the page says so and shows that."""
    by = person(request)
    found = get_object_or_404(HeldBack.objects.select_related("group", "asked_by", "decided_by"), pk=pk)
    form = ApprovalForm(found, by, request.POST)
    if not form.is_valid():
        return _page(request, found, form, status=422)
    try:
        decisions.approve(found, digest=form.cleaned_data["digest"], by=by, signed_in_again=form.signs_in_again)
    except Conflict as conflict:
        found.refresh_from_db()
        return _page(request, found, ApprovalForm(found, by), conflict=str(conflict), status=409)
    except Problem as problem:
        explain(form, problem)
        return _page(request, found, form, status=422)
    messages.success(request, _("Approved. It goes out in a moment, as the next rollout."))
    return redirect("deployments:held", found.pk)


@staff_page
def text(_request: HttpRequest, pk: int) -> HttpResponse:
    """What waits, as nft text, as far as it is kept; of management what changes, line by line."""
    found = get_object_or_404(HeldBack, pk=pk)
    response = HttpResponse(found.text, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="held-back-{found.pk}.nft"'
    return response
