"""Staff pages of incoming mail, above all of quarantine. Headers are shown as plain text, bodies not at all."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, has_right, staff_page
from apps.accounts.roles import Right
from apps.inbound_mail import mailbox_health, selectors, services
from apps.inbound_mail.models import Arrival
from apps.lib.errors import Problem
from apps.lib.web.query_params import parse_text_param
from apps.mail.redaction import redact_raw_mail, redact_staff_addresses

PER_PAGE = 50


@staff_page
def arrivals(request: HttpRequest) -> HttpResponse:
    """List arrivals by state: in quarantine, waiting, taken, deleted."""
    asked = request.GET
    state = asked.get("state", "quarantined") if asked.get("state") in selectors.STATES else "quarantined"
    search = parse_text_param(asked, "q")
    page = Paginator(selectors.list_arrivals(state, search), PER_PAGE).get_page(asked.get("page"))
    shown = {"page": page, "state": state, "search": search, "counts": selectors.count_by_state(), "tabs": selectors.build_tabs()}
    now = timezone.now()
    truth = {
        "away": mailbox_health.find_mailbox_outage(now),
        "late": mailbox_health.find_overdue_mail(),
        "took": selectors.find_last_taken_time(),
    }
    return render(request, "inbound_mail/arrivals.html", shown | truth)


@staff_page
def arrival(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one arrival: its envelope, its headers, and the reason of its state."""
    row = get_object_or_404(Arrival.objects.select_related("ended_by"), pk=pk)
    recipients = [redact_staff_addresses(each) for each in row.recipients]
    shown = {
        "row": row,
        "headers": selectors.render_headers(row),
        "recipients": recipients,
        "acts": has_right(request.user, Right.CHANGE_MEMBERS),
    }
    return render(request, "inbound_mail/arrival.html", shown)


@staff_page
def file(_request: HttpRequest, pk: int) -> HttpResponse:
    """Download the mail as it came, except for addresses that act as staff. It is sent as a file, so that no browser renders it."""
    row = get_object_or_404(Arrival, pk=pk, octets__isnull=False)
    headers = {"Content-Disposition": f'attachment; filename="mail-{row.pk}.eml"', "X-Content-Type-Options": "nosniff"}
    return HttpResponse(redact_raw_mail(bytes(row.octets or b"")), content_type="application/octet-stream", headers=headers)


@staff_page
@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the mail read again."""
    row = get_object_or_404(Arrival.objects.defer("octets"), pk=pk)
    try:
        services.retry_arrival(arrival=row, by=get_signed_in_user(request))
        messages.success(request, _("It is read again now."))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("inbound:arrival", pk)


@staff_page
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what deleting does, then do it on POST."""
    row = get_object_or_404(Arrival.objects.defer("octets"), pk=pk)
    if request.method != "POST":
        return render(request, "inbound_mail/delete.html", {"row": row})
    try:
        services.erase_arrival_content(arrival=row, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("inbound:arrival", pk)
