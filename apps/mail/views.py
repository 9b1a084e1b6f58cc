"""Staff pages of the outbox, and the public page behind the links that switch notices off."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, has_right, staff_page
from apps.accounts.roles import Right
from apps.lib.errors import Problem
from apps.lib.web.paginators import CountedPaginator
from apps.lib.web.query_params import parse_text_param
from apps.mail import circuit_breaker, notice_kinds, selectors, services, unsubscribing
from apps.mail.forms import DiscardForm
from apps.mail.models import Message
from apps.mail.redaction import redact_staff_addresses

PER_PAGE = 50


@staff_page
def outbox(request: HttpRequest) -> HttpResponse:
    """List mails by state: waiting, sent, failed and why."""
    asked, now = request.GET, timezone.now()
    state = asked.get("state", "waiting") if asked.get("state") in selectors.STATES else "waiting"
    search = parse_text_param(asked, "q")
    found = selectors.list_mails(state, search)
    pages = Paginator(found, PER_PAGE) if search else CountedPaginator(selectors.count_mails(state), found, PER_PAGE)
    page = pages.get_page(asked.get("page"))
    shown = {"page": page, "state": state, "search": search, "counts": selectors.count_by_state(), "tabs": selectors.build_tabs()}
    return render(
        request,
        "mail/outbox.html",
        shown
        | {
            "server": circuit_breaker.find_mail_server_outage(),
            "late": selectors.summarize_late_mails(now),
            "left": selectors.find_last_sent_time(),
        },
    )


@staff_page
def message(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one mail: its state, and its content unless that opens an account."""
    row = get_object_or_404(Message.objects.select_related("ended_by"), pk=pk)
    shown = {
        "row": row,
        "in_hand": selectors.is_being_sent(row),
        "server": circuit_breaker.find_mail_server_outage(),
        "acts": has_right(request.user, Right.OPERATE),
    }
    answers = (
        row.reply_to if redact_staff_addresses(row.reply_to) == row.reply_to else ""
    )  # a staff address acts as that person: others must not see it
    return render(request, "mail/message.html", shown | {"kind": notice_kinds.find_label(row.notice), "reply_to": answers})


@staff_page
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Make the mail due now."""
    row = get_object_or_404(Message, pk=pk)
    try:
        services.retry_mail(message=row, by=get_signed_in_user(request))
        messages.success(request, _("Trying to send the mail again now."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("mail:message", pk)


@staff_page
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what discarding does, then do it on POST."""
    row = get_object_or_404(Message, pk=pk)
    form = DiscardForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.discard_mail(message=row, reason=form.cleaned_data["reason"], by=get_signed_in_user(request))
            return redirect("mail:message", pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "mail/discard.html", {"row": row, "form": form}, status=422 if form.is_bound else 200)


@csrf_exempt  # the signed link is the proof, and mail programs post to it without a session (RFC 8058)
def switch_off(request: HttpRequest, token: str) -> HttpResponse:
    """Say what the link switches off; POST switches it off or on again. GET changes nothing: mail scanners open every link."""
    meant = unsubscribing.parse_unsubscribe_token(token)
    kind = notice_kinds.find_label(meant[1]) if meant else None
    if meant is None or kind is None:
        return render(request, "mail/switch_off.html", status=404)
    address, notice = meant
    if request.method == "POST":
        switch = services.switch_notice_on if request.POST.get("on") == "1" else services.switch_notice_off
        switch(address=address, notice=notice)
    shown = {"address": address, "kind": kind, "is_off": unsubscribing.is_notice_off(address, notice), "pressed": request.method == "POST"}
    return render(request, "mail/switch_off.html", shown)
