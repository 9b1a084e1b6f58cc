"""The page of a member's own devices."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user
from apps.desk.self_service.own_page import own_page
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members import own_devices, services
from apps.members.forms import DeviceForm
from apps.members.models import Device, Member


@own_page
def devices(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the devices and the form for another one, or add it."""
    form = DeviceForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = own_devices.add_device(member=member, by=get_signed_in_user(request), **form.cleaned_data)
            messages.success(request, _("%(device)s is registered.") % {"device": made})
            return redirect("own:devices")
        except Problem as problem:
            add_problem_to_form(form, problem)
    context = {"member": member, "devices": member.devices.all(), "most": member.tariff.most_devices, "form": form}
    return render(request, "desk/own/devices.html", context, status=422 if form.errors else 200)


def _get_own_device(member: Member, pk: int) -> Device:
    return get_object_or_404(Device.objects.select_related("member"), pk=pk, member=member)


@own_page
def change(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Change the name or MAC address."""
    device = _get_own_device(member, pk)
    form = DeviceForm(request.POST if request.method == "POST" else None, initial={"name": device.name, "mac": device.mac})
    if form.is_valid():
        try:
            own_devices.change_device(device=device, by=get_signed_in_user(request), **form.cleaned_data)
            messages.success(request, _("%(device)s is registered.") % {"device": device})
            return redirect("own:devices")
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "desk/own/device.html", {"device": device, "form": form}, status=422 if form.errors else 200)


@own_page
def remove(request: HttpRequest, member: Member, pk: int) -> HttpResponse:
    """Show what removing the device does; on POST, remove it."""
    device = _get_own_device(member, pk)
    if request.method != "POST":
        return render(request, "desk/own/device_remove.html", {"device": device})
    services.remove_device(device=device, by=get_signed_in_user(request))
    messages.success(request, _("%(device)s has been removed.") % {"device": device})
    return redirect("own:devices")
