"""Connection check for members, “Is it me or the network?”, and a ticket with its findings."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user
from apps.desk.connection_check import browser
from apps.desk.connection_check.finding import FaultOrigin
from apps.desk.connection_check.report import CheckReport, build_report, sign_text, unsign_text
from apps.desk.self_service.own_page import own_page
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.network.selectors import list_held_now
from apps.tickets import own_tickets
from apps.tickets.forms import AskForm


@own_page
def check(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the verdict, the advice, and every finding."""
    ways = browser.list_ip_version_probes()
    shown = {"report": _build_report(request, member), "ways": ways, "seconds": browser.SECONDS, "missing": _describe_untried(ways)}
    return render(request, "desk/own/check.html", shown)


def _build_report(request: HttpRequest, member: Member, *, tried: bool = False) -> CheckReport:
    more = browser.check_source(request, member, list(list_held_now(member)))
    return build_report(member, timezone.now(), own=True, more=[*more, *(browser.check_versions(request.GET) if tried else [])])


def _describe_untried(ways: list[browser.IpVersionProbe]) -> str:
    """Say that IPv4 and IPv6 cannot both be tried in the browser; "" if they can."""
    if len(ways) == 2:
        return ""
    return _("IPv4 and IPv6 cannot be tested in your browser: the test addresses are not set up.")


@own_page
def open_check_ticket(request: HttpRequest, member: Member) -> HttpResponse:
    """Open a ticket with the findings; the member sees them before it is sent."""
    if request.method != "POST":
        found = _build_report(request, member, tried=True)
        subject = found.verdict.title[:200] if found.verdict.fault is not FaultOrigin.NONE else ""
        return _render_ticket(request, AskForm(initial={"subject": subject}), found.to_text(), member)
    text, form = unsign_text(request.POST.get("found", ""), member), AskForm(request.POST, request.FILES)
    if text is None:
        form.add_problem(Problem(_("The check was more than a day old. The result below is a new one: look at it, then send the ticket.")))
        text = _build_report(request, member).to_text()
    if form.is_valid():
        try:
            made = own_tickets.open_own_ticket(member=member, by=get_signed_in_user(request), **_add_findings(form, text))
            return redirect("own:ticket", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    return _render_ticket(request, form, text, member)


def _add_findings(form: AskForm, text: str) -> dict[str, Any]:
    given = form.to_kwargs()
    return {**given, "text": f"{given['text']}\n\n{text}".strip()}


def _render_ticket(request: HttpRequest, form: AskForm, text: str, member: Member) -> HttpResponse:
    shown = {"form": form, "found": text, "token": sign_text(text, member), "member": member}
    return render(request, "desk/own/check_ticket.html", shown, status=422 if form.is_bound else 200)
