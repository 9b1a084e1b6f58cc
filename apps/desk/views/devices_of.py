"""The panel of a member's devices: responses are the panel, or the member's page for requests without HTMX."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk import member_panels
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import services
from apps.members.forms import DeviceForm
from apps.members.models import Device, Member


def _respond(request: HttpRequest, member: Member, **shown: Any) -> HttpResponse:
    form, part = shown.get("form"), "#panel" if request.headers.get("HX-Request") else ""
    if form or part:
        return render(
            request, f"desk/member/_devices.html{part}", member_panels.build_devices_context(member, **shown), status=422 if form else 200
        )
    return redirect(f"{reverse('desk:member', args=[member.pk])}#devices")


@staff_page
@require_POST
def add(request: HttpRequest, pk: int) -> HttpResponse:
    """Add a device of the member."""
    member = get_object_or_404(Member, pk=pk)
    form = DeviceForm(request.POST)
    if form.is_valid():
        try:
            device = services.add_device(member=member, by=get_signed_in_user(request), **form.cleaned_data)
            return _respond(request, member, saved=device.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return _respond(request, member, form=form)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a device's name or MAC address."""
    device = get_object_or_404(Device.objects.select_related("member"), pk=pk)
    form = DeviceForm(request.POST or None, initial={"name": device.name, "mac": device.mac})
    if request.method == "POST" and form.is_valid():
        try:
            services.change_device(device=device, by=get_signed_in_user(request), **form.cleaned_data)
            return _respond(request, device.member, saved=device.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"form": form, "device": device, "member": device.member}
    return render(request, "desk/member/device.html", context, status=422 if form.errors else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what removing the device does; on POST, remove it."""
    device = get_object_or_404(Device.objects.select_related("member"), pk=pk)
    if request.method != "POST":
        held = [holding.address for holding in device.holdings.filter(is_valid_now())]
        return render(request, "desk/member/device_remove.html", {"device": device, "member": device.member, "held": held})
    services.remove_device(device=device, by=get_signed_in_user(request))
    said = _("%(device)s has been removed.") % {"device": device.name}
    if request.headers.get("HX-Request"):
        return _respond(request, device.member, removed=said)
    messages.success(request, said)
    return _respond(request, device.member)
