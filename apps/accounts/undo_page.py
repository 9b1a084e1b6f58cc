"""Answer to a press of “Undo” in the history or below a list."""

from django.contrib import messages
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from apps.accounts.permissions import get_person
from apps.audit.undo import undo_event
from apps.lib.errors import Problem


def answer_undo(request: HttpRequest, model: type[Model], event: int, *, back: str) -> HttpResponse:
    """Undo the event, say so or why not, and show the row's page; `back`: URL name of the list, if there is no row now."""
    try:
        done = undo_event(model=model, event=event, by=get_person(request))
    except Problem as problem:
        messages.error(request, str(problem))
        return redirect(back)
    messages.success(request, _("Undone: %(name)s.") % {"name": done.name})
    return redirect(done.url or back)
