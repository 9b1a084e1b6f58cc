"""Pages for listeners, and for the interfaces behind which servers stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.bans.listeners import selectors, services
from apps.bans.listeners.forms import ListenerForm, ServerFacingInterfaceForm
from apps.bans.listeners.models import Listener
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.activation_status import list_activation_statuses
from apps.network.models import Gateway

PER_PAGE = 50
LAST_CHANGES = 20
FIELDS = ("name", "address", "protocol", "port", "guarded", "window_scale", "note")


@dataclass(frozen=True)
class InterfaceRow:
    """A gateway's field for the interface behind which servers stand: what is in it, and what is wrong with that."""

    gateway: Gateway
    name: str
    errors: Sequence[str] = ()


def _render_page(request: HttpRequest, form: ListenerForm | None = None, refused: ServerFacingInterfaceForm | None = None) -> HttpResponse:
    search = request.GET.get("q", "").strip()
    page = Paginator(selectors.list_listeners(search), PER_PAGE).get_page(request.GET.get("page"))
    shown: dict[str, Any] = {"page": page, "rows": list_activation_statuses(page), "search": search, "form": form or ListenerForm()}
    shown["interfaces"] = [_build_interface_row(each, refused) for each in selectors.list_gateways()]
    return render(request, "bans/listeners.html", shown, status=422 if form or refused else 200)


def _build_interface_row(gateway: Gateway, refused: ServerFacingInterfaceForm | None) -> InterfaceRow:
    if refused and refused.cleaned_data["gateway"] == gateway:
        return InterfaceRow(gateway, refused["name"].value(), tuple(map(str, refused.errors["name"])))
    interface = getattr(gateway, "server_interface", None)
    return InterfaceRow(gateway, interface.name if interface else "")


@staff_page
def listeners(request: HttpRequest) -> HttpResponse:
    """List all listeners, with the form for a new one."""
    if request.method != "POST":
        return _render_page(request)
    form = ListenerForm(request.POST)
    if form.is_valid():
        try:
            given = {name: form.cleaned_data[name] for name in (*FIELDS, "group")}
            made = services.add_listener(by=get_signed_in_user(request), **given)
            messages.success(request, _("“%(name)s” is on its way to the gateways.") % {"name": made.name})
            if warning := _build_warning(made):
                messages.warning(request, warning)
            return redirect("bans:listeners")
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    return _render_page(request, form)


@staff_page
def listener(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a listener with its history; change it, or turn it on or off."""
    found = get_object_or_404(Listener.objects.select_related("group"), pk=pk)
    form = ListenerForm(request.POST if request.method == "POST" else None, Listener.objects.get(pk=pk))
    if form.is_valid():
        try:
            given = {name: form.cleaned_data[name] for name in (*FIELDS, "enabled")}
            services.change_listener(listener=found, version=form.cleaned_data["version"] or 0, by=get_signed_in_user(request), **given)
            return redirect("bans:listener", pk)
        except Conflict as conflict:
            form.add_error(None, str(conflict))
            form.data = {**request.POST.dict(), "version": str(Listener.objects.get(pk=pk).version)}
        except Problem as problem:
            form.add_error(problem.fieldname or None, str(problem))
    [row] = list_activation_statuses([get_object_or_404(Listener.objects.select_related("group"), pk=pk)])
    shown = {"row": row, "listener": row.thing, "form": form, "entries": list_row_history(found, LAST_CHANGES)}
    shown["warning"] = _build_warning(row.thing)
    return render(request, "bans/listener.html", shown, status=422 if form.is_bound else 200)


def _build_warning(listener: Listener) -> str:
    """Return what to check if the kernel may drop all SYNs (docs/adr/0015-guarded-services.md); "" if it does not."""
    if not listener.guarded or listener.address.version == 4:
        return ""
    return _(
        "Connect to “%(name)s” once: over IPv6 the guard works only where the gateways' network cards check TCP "
        "checksums (ethtool -k: rx-checksumming). If there is no answer, switch generic-receive-offload on there, or the guard off here."
    ) % {"name": listener.name}


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what removing the listener does; after confirmation, remove it."""
    found = get_object_or_404(Listener, pk=pk)
    if request.method != "POST":
        return render(request, "bans/remove_listener.html", {"listener": found})
    services.remove_listener(listener=found, by=get_signed_in_user(request))
    messages.success(request, _("“%(name)s” is being removed from the gateways.") % {"name": found.name})
    return redirect("bans:listeners")


@staff_page
@require_POST
def interface(request: HttpRequest) -> HttpResponse:
    """Set the interface of a gateway behind which servers stand."""
    form = ServerFacingInterfaceForm(request.POST)
    if form.is_valid():
        try:
            services.set_server_facing_interface(by=get_signed_in_user(request), **form.cleaned_data)
            messages.success(request, _("Saved. The gateway's rules are being rewritten."))
            return redirect("bans:listeners")
        except Problem as problem:
            form.add_error("name", str(problem))
    if "gateway" in form.errors:
        raise Http404
    return _render_page(request, refused=form)
