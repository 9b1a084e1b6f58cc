"""The members list, its bulk actions, and its CSV."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk import bulk, list_csv
from apps.desk.forms import FilterForm, parse_members_query
from apps.desk.selectors import members as listing
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form


@staff_page
def members(request: HttpRequest) -> HttpResponse:
    """Show the members that the URL's filters find; for HTMX, only the list."""
    part = "#list" if request.headers.get("HX-Target") == "list" else ""
    return render(request, f"desk/members.html{part}", _build_context(request.GET))


def _build_context(params: QueryDict) -> dict[str, Any]:
    want = parse_members_query(params)
    counts = listing.count_by_view()
    return {
        "want": want,
        "page": listing.build_page(want, timezone.localdate()),
        "views": [(name, listing.render_view_name(name), counts[name]) for name in listing.VIEWS],
        "filters": FilterForm(params),
        "sort": want.sort,
        "any": counts["all"] > 0,
    }


@staff_page
@require_POST
def bulk_action(request: HttpRequest) -> HttpResponse:
    """Preview the action on the selected members; once exactly this preview is confirmed, carry it out."""
    want = parse_members_query(request.GET)
    chosen = bulk.parse_selection(request.POST, want)
    back = f"{reverse('desk:members')}?{request.GET.urlencode()}"
    action = bulk.parse_action(request.POST, timezone.localdate())
    if action is None or not chosen.number:
        return redirect(back)
    preview, difference = action.build_preview(chosen), ""
    if preview and "confirmed" in request.POST:
        difference = preview.mark.describe_difference(bulk.MembersPreviewMark.parse(request.POST))
        if not difference and _carry_out(action, preview, request):
            return redirect(back)
    context = {
        "action": action,
        "title": action.render_title(chosen),
        "chosen": chosen,
        "preview": preview if action.form.is_valid() else None,
        "difference": difference,
        "back": back,
    }
    return render(request, "desk/members_bulk.html", context, status=422 if "confirmed" in request.POST else 200)


def _carry_out(action: bulk.BulkAction[Any], preview: bulk.BulkPreview, request: HttpRequest) -> bool:
    """Carry out what the preview said. Return False if a service refused it; the form then says why."""
    try:
        messages.success(request, action.do(preview.members, get_signed_in_user(request)))
    except Problem as problem:
        add_problem_to_form(action.form, problem)
        return False
    return True


@staff_page
def members_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Stream the list as CSV: all members that the filters find, by name."""
    response = StreamingHttpResponse(
        list_csv.render_member_list_csv(parse_members_query(request.GET), timezone.localdate()), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="members-{timezone.localdate():%Y-%m-%d}.csv"'
    return response
