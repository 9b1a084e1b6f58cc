"""Pages of one's own tokens for scripts: list, create, revoke."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache

from apps.accounts import tokens
from apps.accounts.forms_tokens import TokenForm
from apps.accounts.permissions import get_signed_in_user
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.suspended_submission import has_confirmed_password
from apps.lib.errors import Problem


@never_cache
@require_recent_auth
def token_list(request: HttpRequest) -> HttpResponse:
    """List the user's own tokens, with the form for a new one; its key is shown in this answer only."""
    user, key = get_signed_in_user(request), ""
    form = TokenForm(user, request.POST if request.method == "POST" else None, password_confirmed=has_confirmed_password(request))
    if request.method == "POST" and form.is_valid():
        try:
            _token, key = tokens.create_token(user=user, **form.to_kwargs())
            form = TokenForm(user)
        except Problem as problem:
            form.add_problem(problem)
    rows = user.tokens.select_related("user").order_by("-created")
    context = {"form": form, "rows": rows, "key": key, "now": timezone.now()}
    return render(request, "accounts/tokens.html", context, status=422 if form.errors else 200)


@never_cache
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then revoke one of the user's own tokens."""
    row = get_object_or_404(get_signed_in_user(request).tokens, pk=pk)
    if request.method != "POST":
        return render(request, "accounts/token_revoke.html", {"row": row})
    tokens.revoke_token(user=get_signed_in_user(request), pk=pk)
    messages.success(request, _("The token is revoked."))
    return redirect("accounts:tokens")


@never_cache
def revoke_all(request: HttpRequest) -> HttpResponse:
    """Ask for confirmation, then revoke all of the user's own tokens."""
    if request.method != "POST":
        return render(request, "accounts/tokens_revoke_all.html", {"rows": get_signed_in_user(request).tokens.order_by("name")})
    count = tokens.revoke_all_tokens(user=get_signed_in_user(request))
    messages.success(request, ngettext("%(count)s token is revoked.", "%(count)s tokens are revoked.", count) % {"count": count})
    return redirect("accounts:tokens")
