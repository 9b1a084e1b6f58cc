"""What can be taken away as a file: for other servers, and every table."""

from itertools import groupby

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from apps.accounts.permissions import may, staff_page
from apps.accounts.route_rights import API
from apps.desk.exports.export_files import answer, files, size
from apps.desk.exports.tables import COUNTED, tables


@staff_page
def exports(request: HttpRequest) -> HttpResponse:
    """All files, and all tables that this person may read."""
    found = tables(request, lambda name: may(request.user, API[name].read))
    sized = [(what, [(file, size(file)) for file in some]) for what, some in groupby(files(), lambda file: str(file.what))]
    return render(request, "desk/exports.html", {"files": sized, "groups": list(found), "counted": COUNTED})


@staff_page
def export(request: HttpRequest, name: str) -> HttpResponseBase:
    """One file."""
    found = next((each for each in files() if each.name == name), None)
    if found is None:
        raise Http404(name)
    return answer(request, found)
