"""Pages for importing a table of people: upload, check with the meanings of the columns, import, and the report afterwards."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.desk.people_import import background
from apps.desk.people_import.result_page import build_check_context, describe_report
from apps.desk.people_import.sample import list_sample_headers, list_sample_rows
from apps.desk.people_import.uploads import import_upload, save_meanings, save_upload
from apps.lib.csv_stream import build_csv_download
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members.models import PeopleUpload


class PeopleFileForm(forms.Form):
    """A table of people as a file."""

    file = forms.FileField(label=gettext_lazy("Table"), help_text=gettext_lazy("CSV, ODS or XLSX, one member a line, headers in the first"))
    create_rooms = forms.BooleanField(label=gettext_lazy("Create missing houses and rooms"), required=False)


@staff_page
def upload_people(request: HttpRequest) -> HttpResponse:
    """Upload a table."""
    form = PeopleFileForm(request.POST, request.FILES) if request.method == "POST" else PeopleFileForm()
    if form.is_valid():
        file, create_rooms = form.cleaned_data["file"], form.cleaned_data["create_rooms"]
        try:
            kept = save_upload(name=file.name, content=file.read(), create_rooms=create_rooms, by=get_signed_in_user(request))
            if kept.by_worker:
                background.request_check(kept)
            return redirect("desk:people-check", kept.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "desk/people_import/upload.html", {"form": form}, status=422 if form.errors else 200)


@staff_page
def review_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the import would do, its progress, and its report afterwards; store other meanings of the columns; import; cancel."""
    kept = get_object_or_404(PeopleUpload.objects.defer("content"), pk=pk, by=get_signed_in_user(request))
    if request.method == "POST":
        try:
            _apply_request(request, kept)
        except Problem as problem:
            messages.error(request, str(problem))
        return redirect("desk:people-check", kept.pk)
    by_htmx = bool(request.headers.get("HX-Request"))
    if kept.is_working:
        return render(request, f"desk/people_import/progress.html{'#progress' if by_htmx else ''}", {"upload": kept})
    if by_htmx:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})  # it is done: the whole page differs now
    if kept.state == PeopleUpload.State.IMPORTED and kept.report:
        context = {"upload": kept, "result": describe_report(kept.report)}
        return render(request, "desk/people_import/report.html", context)
    return render(request, "desk/people_import/check.html", build_check_context(kept))


def _apply_request(request: HttpRequest, kept: PeopleUpload) -> None:
    """Import, cancel, or store what the columns mean. Raises Problem."""
    if "cancel" in request.POST:
        if not background.cancel_work(kept):
            messages.error(request, _("It had ended before it was cancelled."))
    elif "choice" not in request.POST:
        save_meanings(kept, meanings=request.POST.getlist("meaning"), create_rooms="create_rooms" in request.POST)
        if kept.by_worker:
            background.request_check(kept)
    elif kept.by_worker:
        background.request_import(kept, choice=request.POST["choice"])
    elif not import_upload(kept, choice=request.POST["choice"], by=get_signed_in_user(request)):
        messages.error(request, _("Nothing was imported: the table has problems by now."))


@staff_page
def download_sample(_request: HttpRequest) -> StreamingHttpResponse:
    """Download a table with all headers."""
    return build_csv_download("netzwart-import", list_sample_headers(), list_sample_rows())
