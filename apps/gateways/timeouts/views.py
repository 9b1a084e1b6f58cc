"""The page that reads the remaining times of a gateway's connections when a person presses its button."""

import structlog
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.deployments.transport.agent_channel import get_readings_channel
from apps.gateways import selectors
from apps.gateways.group_settings import get_profile
from apps.gateways.timeouts.presentation import build_timeouts_view
from apps.gateways.timeouts.reading import read_timeouts
from apps.lib.errors import Problem

log = structlog.get_logger()


@staff_page
def timeouts(request: HttpRequest, pk: int) -> HttpResponse:
    """Explain what the button does; on POST, ask the gateway and show its answer. Nothing is stored."""
    found = get_object_or_404(selectors.list_gateways(), pk=pk)
    context: dict[str, object] = {"gateway": found}
    if request.method != "POST":
        return render(request, "gateways/timeouts.html", context)
    try:
        answer = read_timeouts(get_readings_channel(found))
    except Problem as problem:
        return render(request, "gateways/timeouts.html", context | {"problem": problem}, status=502)
    by = get_signed_in_user(request)
    log.info("remaining times read", gateway=found.name, connections=answer.connections, milliseconds=answer.milliseconds, by=by.pk)
    return render(
        request, "gateways/timeouts.html", context | {"shown": build_timeouts_view(answer, get_profile(found.group)), "at": timezone.now()}
    )
