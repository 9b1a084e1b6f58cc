"""Pages on which a machine becomes a gateway, and the agent's package that it fetches."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.accounts.recent_auth import require_recent_auth
from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.change_texts import describe_joined
from apps.gateways.joining import services
from apps.gateways.joining.forms import InterfacesForm, MachineAddressForm, NewJoiningMachineForm
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import describe_joining, describe_system
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup


@require_safe
def agent_package(_request: HttpRequest, filename: str) -> HttpResponse:
    """Send the agent's Debian package. Anybody may fetch it: it holds no secret."""
    package = build_agent_package()
    if filename != package.filename:
        raise Http404(_("This portal offers %(filename)s.") % {"filename": package.filename})
    return HttpResponse(package.content, content_type="application/vnd.debian.binary-package")


@staff_page
@require_recent_auth
def join(request: HttpRequest) -> HttpResponse:
    """Ask for the name and the address of a machine; its page then shows what to paste on it."""
    chosen = request.GET.get("group", "")
    group = GatewayGroup.objects.filter(pk=int(chosen)).first() if chosen.isdecimal() and len(chosen) < 10 else None
    form = NewJoiningMachineForm(
        request.POST if request.method == "POST" else None, initial={"group": group or GatewayGroup.objects.first()}
    )
    if form.is_valid():
        try:
            made = services.begin_joining(by=get_signed_in_user(request), **form.cleaned_data)
            return redirect("gateways:joining", made.pk)
        except Problem as problem:
            fieldname = {"management_port": "port"}.get(problem.fieldname, problem.fieldname)
            form.add_error(fieldname if fieldname in form.fields else None, str(problem))
    context = {"form": form, "groups": GatewayGroup.objects.exists(), "machines": JoiningMachine.objects.select_related("group")}
    return render(request, "gateways/joining/join.html", context, status=422 if form.is_bound else 200)


@staff_page
@require_recent_auth
def joining(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a machine is; it polls itself. A POST chooses the interfaces, which makes a gateway of it."""
    machine = get_object_or_404(JoiningMachine.objects.select_related("group"), pk=pk)
    facts = machine.parse_facts() if machine.is_ready else None
    form = InterfacesForm(machine, facts, request.POST if request.method == "POST" else None) if facts else None
    if request.method == "POST" and form is None:
        messages.error(request, _("%(name)s is not ready any more. Look at it as it is now.") % {"name": machine})
        return redirect("gateways:joining", machine.pk)
    if form and form.is_valid():
        try:
            made = services.finish_joining(machine=machine, by=get_signed_in_user(request), **form.to_kwargs())
            messages.success(request, describe_joined(made))
            return redirect("gateways:gateway", made.pk)
        except Problem as problem:
            form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    return _render_machine(request, machine, form)


def _render_machine(request: HttpRequest, machine: JoiningMachine, form: InterfacesForm | None) -> HttpResponse:
    """Render the page or its changing part. A poll of a page without the command reloads the page once there is one."""
    shown, facts = describe_joining(machine, timezone.now()), machine.parse_facts()
    polled = request.headers.get("HX-Target") == "progress"
    if request.method == "GET" and (shown.polls or not polled):
        services.request_examination(machine)
    if polled and shown.command and "waits" in request.GET:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    context = {"shown": shown, "machine": machine, "form": form, "system": describe_system(facts) if facts and form else []}
    template = f"gateways/joining/machine.html{'#progress' if polled else ''}"
    return render(request, template, context, status=422 if form and form.is_bound else 200)


@staff_page
@require_POST
@require_recent_auth
def trust(request: HttpRequest, pk: int) -> HttpResponse:
    """Accept the host key that was compared."""
    machine = get_object_or_404(JoiningMachine, pk=pk)
    try:
        services.accept_host_key(machine=machine, fingerprint_key=request.POST.get("host_key", ""))
    except (Conflict, Problem) as problem:
        messages.error(request, str(problem))
    return redirect("gateways:joining", machine.pk)


@staff_page
@require_recent_auth
def move(request: HttpRequest, pk: int) -> HttpResponse:
    """Change where a joining machine is reached."""
    machine = get_object_or_404(JoiningMachine, pk=pk)
    initial = {"address": machine.address, "port": machine.port}
    form = MachineAddressForm(request.POST if request.method == "POST" else None, initial=initial)
    if form.is_valid():
        try:
            services.move_machine(machine=machine, **form.cleaned_data)
            return redirect("gateways:joining", machine.pk)
        except Problem as problem:
            form.add_error(None, str(problem))
    return render(request, "gateways/joining/move.html", {"form": form, "machine": machine}, status=422 if form.is_bound else 200)


@staff_page
def give_up(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what giving up does; forget the machine on POST."""
    machine = get_object_or_404(JoiningMachine, pk=pk)
    if request.method != "POST":
        return render(request, "gateways/joining/give_up.html", {"machine": machine})
    services.give_up(machine=machine)
    messages.success(request, _("%(machine)s does not join any more. On the machine itself nothing has changed.") % {"machine": machine})
    return redirect("gateways:list")
