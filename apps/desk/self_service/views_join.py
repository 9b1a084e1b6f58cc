"""The page behind a member's invitation link: create an account, or connect the present one."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from apps.accounts.forms import AcceptInvitationForm
from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import invitation_services
from apps.members.invitation_services import OpenedInvitation
from apps.members.models import Member


@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, and create or connect an account."""
    try:
        opened = invitation_services.get_invitation_by_token(token)
    except Problem as problem:
        return render(request, "desk/own/join.html", {"problem": problem}, status=410)
    if isinstance(request.user, User):
        return _connect(request, opened, request.user)
    return _make_account(request, opened)


def _connect(request: HttpRequest, opened: OpenedInvitation, user: User) -> HttpResponse:
    """Connect the signed-in account with one click."""
    problem = None
    if request.method == "POST":
        try:
            invitation_services.accept_member_invitation(opened, user=user)
            messages.success(request, _describe_next_step(opened.member))
            return redirect("own:home")
        except Problem as refused:
            problem = refused
    shown = {"opened": opened, "refused": problem, "account": user}
    return render(request, "desk/own/join.html", shown, status=422 if problem else 200)


def _make_account(request: HttpRequest, opened: OpenedInvitation) -> HttpResponse:
    first, _space, last = opened.member.name.partition(" ")
    form = AcceptInvitationForm(request.POST if request.method == "POST" else None, initial={"first_name": first, "last_name": last})
    if form.is_valid():
        try:
            invitation_services.accept_with_new_account(opened, **form.cleaned_data)
            messages.success(request, f"{_('Your account was created. Sign in.')} {_describe_next_step(opened.member)}")
            return redirect("account_login")
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "desk/own/join.html", {"opened": opened, "form": form}, status=422 if form.is_bound else 200)


def _describe_next_step(member: Member) -> str:
    """Describe the next step."""
    if member.state == Member.State.PENDING:
        return _("Next, an administrator activates your membership; until then your addresses do not work. Your page says when they do.")
    return _("Your membership is active: your page shows your addresses, ports and traffic.")
