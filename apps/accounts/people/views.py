"""Pages for the administration of accounts: list, roles, signing out, revoking tokens."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts import role_changes, sessions, tokens
from apps.accounts.models import RoleChange, User
from apps.accounts.people import selectors
from apps.accounts.people.forms import RolesForm
from apps.accounts.permissions import get_signed_in_user, has_right, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.roles import Right
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_number, parse_text_param

HISTORY = 12  # entries in the rail


@staff_page
def people(request: HttpRequest) -> HttpResponse:
    """List the accounts: staff, or all of them."""
    view = "all" if request.GET.get("view") == "all" else "staff"
    text = parse_text_param(request.GET, "q")
    context = {
        "view": view,
        "q": text,
        "page": selectors.build_page(view, text, max(1, parse_number(request.GET, "page"))),
        "waiting": RoleChange.objects.filter(state=RoleChange.State.WAITING).select_related("user", "by"),
    }
    return render(request, "accounts/people.html", context)


def _get_user(pk: int) -> User:
    return get_object_or_404(User, pk=pk)


@staff_page
def account(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an account: its roles and their changes, second factors, sessions and tokens."""
    user = _get_user(pk)
    changes = list(selectors.list_role_changes(user))
    context = {
        "account": user,
        "roles": selectors.describe_roles(user.roles),
        "factors": selectors.list_factor_types(user),
        "sessions": selectors.list_sessions(user),
        "tokens": user.tokens.order_by("created"),
        "changes": changes,
        "waiting": next((each for each in changes if each.state == RoleChange.State.WAITING), None),
        "may_agree": has_right(request.user, Right.APPROVE),
        "own": user.pk == get_signed_in_user(request).pk,
        "history": list_row_history(user, HISTORY),
    }
    return render(request, "accounts/person.html", context)


@staff_page
@require_recent_auth
def change_roles(request: HttpRequest, pk: int) -> HttpResponse:
    """Change an account's roles, with a reason."""
    user, by = _get_user(pk), get_signed_in_user(request)
    form = RolesForm(user, by, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            change = role_changes.submit_role_change(
                user=user, before=form.list_shown_roles(), after=given["roles"], reason=given["reason"], by=by
            )
        except Problem as problem:
            add_problem_to_form(form, problem)
        else:
            messages.success(request, _describe_change(change))
            return redirect("accounts:person", pk)
    context = {
        "form": form,
        "account": user,
        "own": user.pk == by.pk,
        "agreers": [each.name for each in role_changes.list_approvers(by=by)],
    }
    return render(request, "accounts/person_roles.html", context, status=422 if form.errors else 200)


def _describe_change(change: RoleChange) -> str:
    if change.state == RoleChange.State.WAITING:
        return _("This waits until an approver other than you agrees. Nothing has changed yet.")
    facts = {"person": change.user.name, "roles": selectors.describe_roles(change.new) or _("no role")}
    return _("%(person)s has these roles now: %(roles)s.") % facts


@staff_page
@require_POST
@require_recent_auth
def approve_role_change(request: HttpRequest, pk: int) -> HttpResponse:
    """Agree to a change of roles, as the second person."""
    change = get_object_or_404(RoleChange.objects.select_related("user"), pk=pk)
    try:
        role_changes.approve_role_change(change, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, _describe_change(RoleChange.objects.select_related("user").get(pk=pk)))
    return redirect("accounts:person", change.user_id)


@staff_page
@require_POST
def cancel_role_change(request: HttpRequest, pk: int) -> HttpResponse:
    """Drop a change of roles: its author withdraws it, or an approver refuses."""
    change = get_object_or_404(RoleChange, pk=pk)
    try:
        role_changes.cancel_role_change(change, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, _("The change was dropped. The roles stay as they are."))
    return redirect("accounts:person", change.user_id)


@staff_page
@require_POST
def end_account_sessions(request: HttpRequest, pk: int) -> HttpResponse:
    """End all sessions of an account, for instance when a phone is lost; and, if that is ticked, revoke all its tokens."""
    user = _get_user(pk)
    own = request.session.session_key if user.pk == get_signed_in_user(request).pk else None
    count = sessions.end_all_sessions(user=user, but=own)
    if request.POST.get("tokens") == "1":
        _say_revoked(request, tokens.revoke_all_tokens(user=user))
    said = ngettext("%(person)s is signed out on %(count)s device.", "%(person)s is signed out on %(count)s devices.", count)
    messages.success(request, said % {"person": user.name, "count": count})
    return redirect("accounts:person", pk)


@staff_page
def revoke_tokens(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for confirmation, then revoke all tokens of an account; its sessions continue."""
    user = _get_user(pk)
    if request.method != "POST":
        return render(request, "accounts/person_revoke_tokens.html", {"account": user, "rows": user.tokens.order_by("name")})
    _say_revoked(request, tokens.revoke_all_tokens(user=user))
    return redirect("accounts:person", pk)


def _say_revoked(request: HttpRequest, count: int) -> None:
    said = ngettext("%(count)s token is revoked.", "%(count)s tokens are revoked.", count)
    messages.success(request, said % {"count": count})
