"""The page of the top bar's search."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.accounts.permissions import staff_page
from apps.desk.selectors.search import find_only_url
from apps.desk.selectors.search import search_everything as find
from apps.lib.web.query_params import parse_text_param


@staff_page
def search(request: HttpRequest) -> HttpResponse:
    """Show the hits by kind; redirect to the only hit if there is just one."""
    text = parse_text_param(request.GET, "q")
    groups = find(text)
    if url := find_only_url(groups):
        return redirect(url)
    return render(request, "desk/search.html", {"text": text, "groups": groups})
