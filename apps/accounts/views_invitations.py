"""Pages for inviting people, and the page behind the link of an invitation."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts import invitations
from apps.accounts.forms import AcceptInvitationForm, InvitationForm
from apps.accounts.models import Invitation
from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.accounts.suspended_submission import has_confirmed_password
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.form_errors import add_problem_to_form


@staff_page
@require_recent_auth
def invitation_list(request: HttpRequest) -> HttpResponse:
    """List the open invitations, with the form for a new one."""
    sent = request.POST if request.method == "POST" else None
    form = InvitationForm(get_signed_in_user(request), sent, password_confirmed=has_confirmed_password(request))
    if request.method == "POST" and form.is_valid():
        try:
            given = form.cleaned_data
            with transaction.atomic():
                made, token = invitations.create_invitation(email=given["email"], roles=given["roles"], by=get_signed_in_user(request))
                invitations.send_invitation(made, request.build_absolute_uri(reverse("accounts:invited", args=[token])))
        except Problem as problem:
            add_problem_to_form(form, problem)
        else:
            messages.success(request, _("The invitation is on its way to %(address)s.") % {"address": made.email})
            return redirect("accounts:invitations")
    rows = Invitation.objects.filter(taken=None, withdrawn=None).select_related("by").order_by("-made")
    return render(request, "accounts/invitations.html", {"form": form, "rows": rows}, status=422 if form.errors else 200)


@staff_page
@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw an invitation."""
    invitations.withdraw_invitation(get_object_or_404(Invitation, pk=pk))
    messages.success(request, _("The invitation is withdrawn."))
    return redirect("accounts:invitations")


def accept_invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page behind the link, on which a person chooses a name and a password."""
    found = invitations.find_invitation(token)
    if found is None:
        return render(request, "accounts/invited.html", status=410)
    form = AcceptInvitationForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            invitations.accept_invitation(found, **form.cleaned_data)
        except Conflict:
            return render(request, "accounts/invited.html", status=410)
        except Problem as problem:
            add_problem_to_form(form, problem)
        else:
            messages.success(request, _("Your account was created. Sign in."))
            return redirect("account_login")
    return render(request, "accounts/invited.html", {"form": form, "invitation": found}, status=422 if form.errors else 200)
