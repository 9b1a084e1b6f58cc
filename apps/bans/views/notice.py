"""Pages for what blocked members of a group see and reach."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.bans.blocks import services
from apps.bans.blocks.forms import NoticeForm, ReachableForm
from apps.bans.blocks.models import Notice, Reachable
from apps.bans.listeners.selectors import list_gateways
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.network.models import GatewayGroup


def _get_notice(group: int) -> Notice:
    found, _made = Notice.objects.get_or_create(group=get_object_or_404(GatewayGroup, pk=group))
    return found


def _render_page(request: HttpRequest, notice: Notice, form: NoticeForm | None = None, add: ReachableForm | None = None) -> HttpResponse:
    shown: dict[str, Any] = {"notice": notice, "form": form or NoticeForm(notice), "add": add or ReachableForm()}
    shown["without"] = [each.name for each in list_gateways().filter(group=notice.group_id) if not hasattr(each, "server_interface")]
    return render(request, "bans/notice_settings.html", shown, status=422 if form or add else 200)


@staff_page
def notice(request: HttpRequest, group: int) -> HttpResponse:
    """Show and change the notice page's address, the contact, and the ports that stay reachable."""
    found = _get_notice(group)
    if request.method != "POST":
        return _render_page(request, found)
    form = NoticeForm(found, request.POST)
    if form.is_valid():
        try:
            services.set_notice(notice=found, by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("bans:notice", group)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return _render_page(request, found, form=form)


@staff_page
@require_POST
def add(request: HttpRequest, group: int) -> HttpResponse:
    """Let blocked members reach one more port."""
    found, form = _get_notice(group), ReachableForm(request.POST)
    if form.is_valid():
        try:
            services.add_reachable(notice=found, by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("bans:notice", group)
        except Problem as problem:
            form.add_error("address", str(problem))
    return _render_page(request, found, add=form)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what closing this port to blocked members does; after confirmation, close it."""
    found = get_object_or_404(Reachable.objects.select_related("notice"), pk=pk)
    if request.method != "POST":
        return render(request, "bans/remove_reachable.html", {"reachable": found})
    services.remove_reachable(reachable=found, by=get_signed_in_user(request))
    messages.success(request, _("“%(name)s” is being closed to blocked members.") % {"name": found.name})
    return redirect("bans:notice", found.notice.group_id)
