"""Pages for importing a file into a ban list: upload, preview, confirmation."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from apps.accounts.permissions import staff_page
from apps.bans import uploads
from apps.bans.bulk_selection import is_typed_number_missing
from apps.bans.forms import ImportForm
from apps.bans.import_preview import build_preview
from apps.bans.models import BanList, Upload
from apps.lib.errors import Problem
from apps.lib.web.query_params import parse_number


@staff_page
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Upload a file, with options for its import."""
    banlist = get_object_or_404(BanList, pk=pk)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_valid():
        file, cleaned = form.cleaned_data["file"], form.cleaned_data
        options = {name: cleaned[name] for name in ("keep", "comment", "direction")} | {
            "minimum_count": cleaned["minimum_count"] or 0,
            "expires": form.compute_end(),
        }
        try:
            kept = uploads.save_upload(list=banlist, name=file.name, content=file.read(), options=options, by=request.user)  # type: ignore[arg-type]  # signed in
            return redirect("bans:preview", kept.pk)
        except Problem as problem:
            form.add_problem(problem)
    return render(request, "bans/import.html", {"list": banlist, "form": form}, status=422 if form.is_bound else 200)


@staff_page
def preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the import would do, and the first bad lines; after confirmation, import the file."""
    kept = get_object_or_404(Upload.objects.select_related("list"), pk=pk, by=request.user)
    shown = build_preview(kept, request.user)
    typed = parse_number(request.POST, "typed")
    if request.method != "POST" or is_typed_number_missing(shown.removed_count, typed) or not shown.is_possible:
        return render(request, "bans/preview.html", {"list": kept.list, "upload": kept, "preview": shown})
    try:
        outcome = uploads.import_upload(kept, by=request.user, skip_invalid=True, dry_run=False)  # type: ignore[arg-type]  # staff_page: signed in
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect("bans:list", kept.list.pk)
    words = _("Imported: %(added)d added, %(removed)d lifted, %(renewed)d renewed, %(unchanged)d unchanged.")
    given = {"added": outcome.added, "removed": outcome.removed, "renewed": outcome.renewed, "unchanged": outcome.unchanged}
    messages.success(request, words % given)
    return redirect("bans:list", kept.list.pk)
