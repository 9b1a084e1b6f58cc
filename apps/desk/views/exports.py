"""Page of downloads: export files for other servers, and every table."""

from itertools import groupby

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from apps.accounts.permissions import has_right, staff_page
from apps.accounts.route_rights import API
from apps.desk.exports.export_files import find_size, list_files, serve_file
from apps.desk.exports.tables import COUNTED, list_tables


@staff_page
def exports(request: HttpRequest) -> HttpResponse:
    """Show all export files, and all tables that this person may read."""
    found = list_tables(request, lambda name: has_right(request.user, API[name].read))
    sized = [(what, [(file, find_size(file)) for file in some]) for what, some in groupby(list_files(), lambda file: str(file.what))]
    return render(request, "desk/exports.html", {"files": sized, "groups": found, "counted": COUNTED})


@staff_page
def export(request: HttpRequest, name: str) -> HttpResponseBase:
    """Download one export file."""
    found = next((each for each in list_files() if each.name == name), None)
    if found is None:
        raise Http404(name)
    return serve_file(request, found)
