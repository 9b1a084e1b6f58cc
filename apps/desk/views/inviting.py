"""Inviting a member to the portal, and withdrawing the invitation."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.lib.errors import Problem
from apps.members import invitation_services
from apps.members.models import Member


@staff_page
@require_POST
def invite(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the link; a new one replaces an earlier one."""
    member = get_object_or_404(Member, pk=pk)
    try:
        invitation_services.invite_member(member=member, by=get_signed_in_user(request))
        messages.success(request, _("The invitation is on its way to %(address)s.") % {"address": member.email})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("desk:member", pk)


@staff_page
@require_POST
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw the invitation, so that its link becomes invalid."""
    invitation_services.withdraw_any_open_invitation(member=get_object_or_404(Member, pk=pk))
    messages.success(request, _("The invitation is withdrawn."))
    return redirect("desk:member", pk)
