"""Staff's pages of announcements: list, draft, preview, publication and progress."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.announcements import selectors, services
from apps.announcements.audience import preview_audience
from apps.announcements.forms import AnnouncementForm
from apps.announcements.models import LANGUAGES, Announcement
from apps.audit.selectors import list_row_history
from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.lib.web.query_params import parse_number

PER_PAGE = 50


@staff_page
def announcements(request: HttpRequest) -> HttpResponse:
    """List all announcements, the newest first."""
    now = timezone.now()
    page = Paginator(selectors.list_announcements(), PER_PAGE).get_page(request.GET.get("page"))
    rows = [(row, row.is_shown(now), row.is_over(now)) for row in page]
    shown = sum(is_shown for _row, is_shown, _over in rows)
    return render(request, "announcements/list.html", {"page": page, "rows": rows, "shown": shown})


@staff_page
def announcement(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a draft with its preview, or a published announcement with the progress of its mails."""
    row = get_object_or_404(selectors.list_announcements(), pk=pk)
    return _render_announcement(request, row)


def _render_announcement(request: HttpRequest, row: Announcement, problem: str = "") -> HttpResponse:
    now, draft = timezone.now(), row.state == Announcement.State.DRAFT
    shown: dict[str, Any] = {
        "row": row,
        "words": [row.choose_words(language) for language in LANGUAGES if getattr(row, f"title_{language}")],
        "preview": preview_audience(row) if draft else None,
        "progress": None if draft else selectors.count_deliveries(row),
        "is_shown": row.is_shown(now),
        "is_over": row.is_over(now),
        "is_late": row.shown_until <= now,
        "history": list_row_history(row),
        "problem": problem,
    }
    return render(request, "announcements/announcement.html", shown, status=409 if problem else 200)


@staff_page
def add(request: HttpRequest) -> HttpResponse:
    """Write a draft."""
    form = AnnouncementForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            made = services.draft_announcement(facts=form.to_facts(), by=get_signed_in_user(request))
            return redirect("announcements:announcement", made.pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "announcements/form.html", {"form": form}, status=422 if form.is_bound else 200)


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a draft."""
    row = get_object_or_404(Announcement, pk=pk)
    if row.state != Announcement.State.DRAFT:
        return redirect("announcements:announcement", pk)
    form = AnnouncementForm(request.POST if request.method == "POST" else None, row)
    if form.is_valid():
        try:
            version = form.cleaned_data["version"] or 0
            services.change_draft(announcement=row, version=version, facts=form.to_facts(), by=get_signed_in_user(request))
            return redirect("announcements:announcement", pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "announcements/form.html", {"form": form, "row": row}, status=422 if form.is_bound else 200)


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks whether to remove a draft. POST removes it."""
    row = get_object_or_404(Announcement, pk=pk)
    if request.method != "POST":
        return render(request, "announcements/remove.html", {"row": row})
    try:
        services.remove_draft(announcement=row, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("announcements:announcement", pk)
    return redirect("announcements:list")


@staff_page
@require_POST
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """Publish a draft to as many members as the pressed button said."""
    row = get_object_or_404(selectors.list_announcements(), pk=pk)
    version, members = parse_number(request.POST, "version"), parse_number(request.POST, "members")
    try:
        services.publish_announcement(announcement=row, version=version, members=members, by=get_signed_in_user(request))
    except Problem as problem:
        return _render_announcement(request, selectors.list_announcements().get(pk=pk), str(problem))
    return redirect("announcements:announcement", pk)


@staff_page
def withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """GET says what withdrawing does and does not do. POST withdraws."""
    row = get_object_or_404(Announcement, pk=pk)
    if request.method != "POST":
        return render(request, "announcements/withdraw.html", {"row": row, "progress": selectors.count_deliveries(row)})
    try:
        stopped = services.withdraw_announcement(announcement=row, by=get_signed_in_user(request))
        words = ngettext("Withdrawn. %(n)s mail was stopped.", "Withdrawn. %(n)s mails were stopped.", stopped)
        messages.success(request, words % {"n": formats.format_number(stopped)})
    except Problem as problem:
        messages.error(request, str(problem))
    return redirect("announcements:announcement", pk)
