"""What can be taken away as a file: for other servers, and every table."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse

from apps.accounts.permissions import may, staff_page
from apps.accounts.routes import API
from apps.desk.handing.files import answer, files


@staff_page
def exports(request: HttpRequest) -> HttpResponse:
    """All files, and all tables that this person may read."""
    tables = [url for name, rows in API.items() if may(request.user, rows.read) and (url := _list_of(name))]
    return render(request, "desk/exports.html", {"files": files(), "tables": sorted(tables)})


def _list_of(name: str) -> str:
    """The address of a collection's list; "" where it has none."""
    try:
        return "" if name == "export" else reverse(f"api:{name}-list")
    except NoReverseMatch:
        return ""


@staff_page
def export(request: HttpRequest, name: str) -> HttpResponseBase:
    """One file."""
    found = next((each for each in files() if each.name == name), None)
    if found is None:
        raise Http404(name)
    return answer(request, found)
