"""Pages for importing a table of people: upload, check with the meanings of the columns, import, and the report afterwards."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.permissions import get_person, staff_page
from apps.desk.people_import.result_page import build_check_context, describe_report
from apps.desk.people_import.sample import list_sample_headers, list_sample_rows
from apps.desk.people_import.uploads import choose_meanings, import_upload, save_upload
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
            kept = save_upload(name=file.name, content=file.read(), create_rooms=create_rooms, by=get_person(request))
            return redirect("desk:people-check", kept.pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    return render(request, "desk/people_import/upload.html", {"form": form}, status=422 if form.errors else 200)


@staff_page
def check_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the import would do, and its report afterwards; store other meanings of the columns; import."""
    kept = get_object_or_404(PeopleUpload, pk=pk, by=get_person(request))
    if request.method == "POST":
        try:
            _apply_request(request, kept)
        except Problem as problem:
            messages.error(request, str(problem))
        return redirect("desk:people-check", kept.pk)
    if kept.report is not None:
        context = {"upload": kept, "result": describe_report(kept.report)}
        return render(request, "desk/people_import/report.html", context)
    return render(request, "desk/people_import/check.html", build_check_context(kept))


def _apply_request(request: HttpRequest, kept: PeopleUpload) -> None:
    """Import, or store what the columns mean. Raises Problem."""
    if "choice" not in request.POST:
        choose_meanings(kept, meanings=request.POST.getlist("meaning"), create_rooms="create_rooms" in request.POST)
    elif not import_upload(kept, choice=request.POST["choice"], by=get_person(request)):
        messages.error(request, _("Nothing was imported: the table has problems by now."))


@staff_page
def download_sample(_request: HttpRequest) -> StreamingHttpResponse:
    """Download a table with all headers."""
    return build_csv_download("netzwart-import", list_sample_headers(), list_sample_rows())
