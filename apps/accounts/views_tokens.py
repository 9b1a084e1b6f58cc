"""One's own tokens for scripts: see, make, revoke."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.accounts import tokens
from apps.accounts.forms_tokens import TokenForm
from apps.accounts.permissions import person
from apps.lib.errors import Problem
from apps.lib.forms import explain


@never_cache
def mine(request: HttpRequest) -> HttpResponse:
    """All tokens of this person, and the form of a new one; its key is shown in the answer, and never again."""
    user, key = person(request), ""
    form = TokenForm(user, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            given = form.cleaned_data
            limits = {"scopes": form.scopes(), "networks": given["networks"], "expires": form.expires()}
            _token, key = tokens.create(user=user, name=given["name"], **limits)
            form = TokenForm(user)
        except Problem as problem:
            explain(form, problem)
    context = {"form": form, "rows": user.tokens.order_by("-created"), "key": key, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """The key opens nothing any more."""
    if not tokens.revoke(user=person(request), pk=pk):
        raise Http404("no token of this person")
    messages.success(request, _("The token is revoked."))
    return redirect("accounts:tokens")
