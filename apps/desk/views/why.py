"""The page “Why?”: a packet's trace through a gateway's ruleset."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.permissions import staff_page
from apps.desk.live_trace import form as live
from apps.desk.live_trace.form import LiveTraceForm
from apps.desk.packet_trace import packet_trace_texts
from apps.desk.packet_trace.answer import log_question
from apps.desk.packet_trace.form import RUNS, START, WANTED, QuestionForm
from apps.desk.packet_trace.path import list_path_stops
from apps.desk.packet_trace.question import InvalidQuestion
from apps.desk.packet_trace.tracer import TracerUnavailable, tracer
from apps.network.models import Gateway


@staff_page
def trace_packet(request: HttpRequest) -> HttpResponse:
    """Show the form, and the answer if both ends are given. Links from other pages may fill in a part of the form only."""
    if not Gateway.objects.exists():
        return render(request, "desk/why.html", {"gateways": False})
    asked = "source" in request.GET and "destination" in request.GET
    given = START | request.GET.dict()
    form = QuestionForm(given) if asked else QuestionForm(initial=given)
    return render(
        request, "desk/why.html", {"gateways": True, "form": form, **(_build_answer_context(form, request.user) if asked else {})}
    )


def _build_answer_context(form: QuestionForm, by: object) -> dict[str, Any]:
    if not form.is_valid():
        return {}
    try:
        question = form.build_question()
        log_question(question, by)
        found = tracer.ask(question)
    except InvalidQuestion as problem:
        form.add_error(problem.field, str(problem))
        return {}
    except TracerUnavailable as problem:
        form.add_error("gateway", str(problem))
        return {}
    return {
        "answer": found,
        "said": packet_trace_texts.describe_verdict(found),
        "guessed": packet_trace_texts.describe_guess(found),
        "packet": packet_trace_texts.render_packet(found.trace.packet),
        "stops": list_path_stops(found),
        "aside": ", ".join(packet_trace_texts.iter_fates_elsewhere(found)),
        "other_ruleset": WANTED if form.cleaned_data["ruleset"] == RUNS else RUNS,
        "state": found.trace.state,
        "live": LiveTraceForm(initial=live.START | {"gateway": form.data["gateway"]}, auto_id="live_%s"),
    }
