"""Live traces: starting one on a gateway, watching it, ending it."""

from contextlib import suppress

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.deployments.transport.agent_channel import get_readings_channel
from apps.desk.live_trace import live_trace_texts
from apps.desk.live_trace.form import START, LiveTraceForm
from apps.desk.live_trace.live_trace_session import read_live_trace, start_live_trace
from apps.desk.live_trace.passage import list_passages
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.network.models import Gateway


@staff_page
def live_trace(request: HttpRequest) -> HttpResponse:
    """Show the form; on POST, start the trace on the gateway."""
    if request.method != "POST":
        return render(
            request, "desk/live.html", {"form": LiveTraceForm(initial=START | request.GET.dict()), "gateways": Gateway.objects.exists()}
        )
    form = LiveTraceForm(START | request.POST.dict())
    if form.is_valid():
        try:
            return _start_trace(form, request)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "desk/live.html", {"form": form, "gateways": True}, status=422)


def _start_trace(form: LiveTraceForm, request: HttpRequest) -> HttpResponse:
    wish = form.build_request()
    number = start_live_trace(get_readings_channel(wish.gateway), wish, by=get_signed_in_user(request))
    page = reverse("desk:live-seen", args=[wish.gateway.name, number])
    return redirect(f"{page}?{urlencode({name: form.data[name] for name in form.fields if form.data.get(name)})}")


@staff_page
def live_trace_progress(request: HttpRequest, gateway: str, number: int) -> HttpResponse:
    """Show the events so far. The page polls its live part until the trace has ended; a poll gets 204 if there is nothing new."""
    of = _find_gateway(gateway)
    context = {"gateway": of, "number": number, "form": LiveTraceForm(initial=START | request.GET.dict()), "gateways": True, "begun": True}
    context |= _build_events_context(of, number)
    if request.GET.get("seen", "") == context["stamp"]:
        return HttpResponse(status=204)
    part = "#now" if request.headers.get("HX-Target") == "now" else ""
    return render(request, f"desk/live.html{part}", context)


def _find_gateway(name: str) -> Gateway:
    """Return the gateway of this name. Raises Http404, also for a name with NUL, which the database does not take."""
    if "\0" in name:
        raise Http404
    return get_object_or_404(Gateway.objects.select_related("group"), name=name)


def _build_events_context(gateway: Gateway, number: int) -> dict[str, object]:
    try:
        answer = read_live_trace(get_readings_channel(gateway), number)
    except Problem as problem:
        return {"problem": problem, "stamp": "problem"}
    return {
        "passages": list_passages(gateway, answer.events, timezone.now()),
        "goes_on": not answer.ended,
        "ended": live_trace_texts.ENDED.get(answer.ended, answer.ended),
        "stamp": f"{len(answer.events)}{answer.ended}",
    }


@staff_page
@require_POST
def end_live_trace(request: HttpRequest, gateway: str, number: int) -> HttpResponse:
    """End the trace before its time."""
    of = _find_gateway(gateway)
    with suppress(Problem):  # the next page shows the problem
        read_live_trace(get_readings_channel(of), number, end=True)
    return redirect(f"{reverse('desk:live-seen', args=[gateway, number])}?{request.GET.urlencode()}")
