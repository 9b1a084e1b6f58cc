"""The page of a member's own settings."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import override

from apps.accounts.permissions import get_signed_in_user
from apps.desk.self_service.own_page import own_page
from apps.desk.self_service.settings import SettingsForm, save_settings
from apps.members.models import Member


@own_page
def settings(request: HttpRequest, member: Member) -> HttpResponse:
    """Show and save the language and the notices; list mails that are always sent, with the reason."""
    user = get_signed_in_user(request)
    form = SettingsForm(member, user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        with transaction.atomic():
            save_settings(member, user, form.cleaned_data)
        with override(user.language or request.LANGUAGE_CODE):
            messages.success(request, _("Saved."))
        return redirect("own:settings")
    return render(request, "desk/own/settings.html", {"form": form, "member": member}, status=422 if form.is_bound else 200)
