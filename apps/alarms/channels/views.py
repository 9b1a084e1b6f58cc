"""Pages of channels, for network administrators."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.alarms.channels import services
from apps.alarms.channels.forms import ChannelForm
from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.selectors import list_channels
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem

LAST = 20


@staff_page
def channels(request: HttpRequest) -> HttpResponse:
    """List all channels, and the last messages."""
    last = ChannelMessage.objects.select_related("channel").order_by("-id")[:LAST]
    return render(request, "alarms/channels.html", {"rows": list_channels(), "last": last})


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Add a channel."""
    form = ChannelForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.add_channel(facts=form.to_facts(), by=get_signed_in_user(request))
            messages.success(request, _("Added. Send a test to see whether it arrives."))
            return redirect("alarms:channels")
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "alarms/channel.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a channel, or switch it off."""
    row = get_object_or_404(AlarmChannel, pk=pk)
    form = ChannelForm(request.POST if request.method == "POST" else None, row)
    if form.is_valid():
        try:
            version = form.cleaned_data["version"] or 0
            services.change_channel(channel=row, version=version, facts=form.to_facts(), by=get_signed_in_user(request))
            return redirect("alarms:channels")
        except Problem as problem:
            form.add_problem(problem)
    shown = {"form": form, "row": row, "history": list_row_history(row)}
    return render(request, "alarms/channel.html", shown, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what would be removed. POST removes the channel."""
    row = get_object_or_404(AlarmChannel, pk=pk)
    if request.method != "POST":
        waiting = row.messages.filter(state=ChannelMessage.State.WAITING).count()
        return render(request, "alarms/channel_remove.html", {"row": row, "waiting": waiting})
    services.remove_channel(channel=row, by=get_signed_in_user(request))
    return redirect("alarms:channels")


@staff_page
@require_POST
def test(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a test."""
    try:
        services.send_test(channel=get_object_or_404(AlarmChannel, pk=pk), by=get_signed_in_user(request))
        messages.success(request, _("A test is on its way: it is the first line of the messages."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("alarms:channels")
