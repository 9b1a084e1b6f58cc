"""Pages for the feed of a list: setting it up, refreshing it, removing it, and what it held back."""

from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.accounts.permissions import get_signed_in_user, staff_page
from apps.audit.selectors import list_row_history
from apps.bans import feed_refresh, feed_services
from apps.bans.bulk_selection import is_typed_number_missing
from apps.bans.forms import FeedForm
from apps.bans.models import BanFeed, BanList
from apps.bans.selectors import find_feed
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.web.query_params import parse_exact_time, parse_number


def _get_feed(list_pk: int) -> BanFeed:
    found = find_feed(get_object_or_404(BanList, pk=list_pk))
    if found is None:
        raise Http404
    return found


def _redirect_to_feed(pk: int) -> HttpResponse:
    return redirect(f"{reverse('bans:list', args=[pk])}#feed")


@staff_page
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Set up the list's feed, or change it."""
    banlist = get_object_or_404(BanList, pk=pk)
    feed = find_feed(banlist)
    form = FeedForm(feed, request.POST if request.method == "POST" else None)
    if form.is_valid():
        given = dict(form.cleaned_data)
        version = given.pop("version")
        try:
            if feed:
                feed_services.change_feed(feed=feed, version=version, by=get_signed_in_user(request), **given)
            else:
                feed_services.add_feed(list=banlist, by=get_signed_in_user(request), **given)
            return _redirect_to_feed(pk)
        except Problem as problem:
            add_problem_to_form(form, problem)
    entries = list_row_history(feed, 8) if feed else []
    shown = {"list": banlist, "form": form, "feed": feed, "entries": entries}
    return render(request, "bans/feed.html", shown, status=422 if form.is_bound else 200)


@staff_page
@require_POST
def refresh_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Start a refresh now."""
    feed_services.request_refresh(feed=_get_feed(pk), by=get_signed_in_user(request))
    return _redirect_to_feed(pk)


@staff_page
def feed_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Render the progress or the result of a refresh, a part of the list's page."""
    feed = _get_feed(pk)
    response = render(request, "bans/feed_state.html", {"list": feed.list, "feed": feed})
    if not feed.phase:
        response["HX-Refresh"] = "true"  # it is done: the whole page differs now
    return response


@staff_page
def pending_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what was held back and why; after confirmation, import or discard it."""
    feed = _get_feed(pk)
    if feed.held_since is None:
        messages.info(request, _("Nothing is held back any more."))
        return _redirect_to_feed(pk)
    seen = parse_exact_time(request.POST, "held_since")
    if seen is None or not _is_decided(request, feed):
        return render(
            request, "bans/feed_held.html", {"list": feed.list, "feed": feed, "type": is_typed_number_missing(feed.held_removed, 0)}
        )
    try:
        _decide_pending_import(request, feed, seen)
    except Problem as problem:
        messages.error(request, str(problem))
    return _redirect_to_feed(pk)


def _is_decided(request: HttpRequest, feed: BanFeed) -> bool:
    """True if the person discards what was held back, or imports it and has typed the number that this asks for."""
    typed = parse_number(request.POST, "typed")
    return "drop" in request.POST or not is_typed_number_missing(feed.held_removed, typed)


def _decide_pending_import(request: HttpRequest, feed: BanFeed, held_since: datetime) -> None:
    """Import or discard what was held back then. Raises Problem."""
    if "drop" in request.POST:
        feed_refresh.discard_pending_import(feed=feed, held_since=held_since)
    else:
        feed_refresh.apply_pending_import(feed=feed, held_since=held_since, by=get_signed_in_user(request))
        messages.success(request, _("Imported."))


@staff_page
def remove(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what removing the feed does; after confirmation, remove it."""
    feed = _get_feed(pk)
    if request.method != "POST":
        return render(request, "bans/feed_remove.html", {"list": feed.list, "feed": feed})
    feed_services.remove_feed(feed=feed)
    messages.success(request, _("“%(list)s” has no feed any more; its bans stay.") % {"list": feed.list})
    return _redirect_to_feed(pk)
