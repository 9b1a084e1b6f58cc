"""“Is it me or the network?”: what is known of the member's connection, and a ticket with all that."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.permissions import person
from apps.desk.connection_check import browser
from apps.desk.connection_check.finding import Fault
from apps.desk.connection_check.report import Report, report, signed, unsigned
from apps.desk.self_service.own_page import own_page
from apps.lib.errors import Problem
from apps.members.models import Member
from apps.network.selectors import holdings_of
from apps.tickets import own
from apps.tickets.forms import AskForm


@own_page
def check(request: HttpRequest, member: Member) -> HttpResponse:
    """The verdict, what to do now, and every finding."""
    ways = browser.ways()
    shown = {"report": _report(request, member), "ways": ways, "seconds": browser.SECONDS, "missing": _missing(ways)}
    return render(request, "desk/own/check.html", shown)


def _report(request: HttpRequest, member: Member, *, tried: bool = False) -> Report:
    more = browser.came_from(request, member, list(holdings_of(member)))
    return report(member, timezone.now(), own=True, more=[*more, *(browser.reached(request.GET) if tried else [])])


def _missing(ways: list[browser.Way]) -> str:
    """What cannot be tried here, in words."""
    if len(ways) == 2:
        return ""
    return _("What your browser reaches over IPv4 and over IPv6 is not tried here: nobody has set up the addresses for that.")


@own_page
def ticket(request: HttpRequest, member: Member) -> HttpResponse:
    """A ticket with what was found; the member sees it before it is sent."""
    if request.method != "POST":
        found = _report(request, member, tried=True)
        subject = found.verdict.title[:200] if found.verdict.fault is not Fault.NONE else ""
        return _ticket(request, AskForm(initial={"subject": subject}), found.as_text(), member)
    text, form = unsigned(request.POST.get("found", ""), member), AskForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            made = own.ask(member=member, by=person(request), **_with(form, text))
            return redirect("own:ticket", made.pk)
        except Problem as problem:
            form.take(problem)
    return _ticket(request, form, text or "", member)


def _with(form: AskForm, text: str | None) -> dict[str, Any]:
    if text is None:
        raise Problem(_("What was found is more than a day old. Look again, then open the ticket."))
    given = form.wanted()
    return {**given, "text": f"{given['text']}\n\n{text}".strip()}


def _ticket(request: HttpRequest, form: AskForm, text: str, member: Member) -> HttpResponse:
    shown = {"form": form, "found": text, "token": signed(text, member), "member": member}
    return render(request, "desk/own/check_ticket.html", shown, status=422 if form.is_bound else 200)
