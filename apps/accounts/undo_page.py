"""The button “Undo” beside what a page says about a change, and the answer to a press of it there, in the history or below a list."""

from typing import Any

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_signed_in_user
from apps.audit.selectors import find_event_of_version
from apps.audit.trail import get_trail
from apps.audit.undo import undo_event
from apps.lib.errors import Problem


def add_undo_message(request: HttpRequest, words: str, row: Any, version: int) -> None:
    """Say on the next page what was changed, with a button that undoes it; without one if nothing was.

    version: of the row before the change.
    """
    undo, event = get_trail(type(row)).undo_by, find_event_of_version(row, version + 1)
    messages.success(request, words, extra_tags=reverse(undo.route, args=[event.pk]) if undo and event else "")


def answer_undo(request: HttpRequest, model: type[Model], event: int, *, back: str) -> HttpResponse:
    """Undo the event, say so or why not, and show the row's page; `back`: URL name of the list, if there is no row now."""
    try:
        done = undo_event(model=model, event=event, by=get_signed_in_user(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect(back)
    messages.success(request, _("Undone: %(name)s.") % {"name": done.name})
    return redirect(done.url or back)
