"""Shows the Problems of services in forms."""

from django import forms
from django.db.models import Model
from django.http import QueryDict

from apps.lib.errors import Conflict, Problem


def add_problem_to_form(form: forms.Form, problem: Problem) -> None:
    """Add the sentence to its field, or to the whole form, and set `form.offer` to the value that would be accepted."""
    form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    form.offer = problem.offer  # type: ignore[attr-defined]  # templates read it


def renew_version_after_conflict(form: forms.Form, problem: Problem, row: Model) -> None:
    """After a Conflict, put the row's current version into the form: its sender has seen that somebody else changed the row, and the next
    click saves what is in the form.
    """
    if isinstance(problem, Conflict):
        version = type(row)._default_manager.values_list("version", flat=True).get(pk=row.pk)
        sent = QueryDict.copy(form.data)  # type: ignore[arg-type]  # a form of a page has what a browser sent
        sent["version"] = str(version)
        form.data = sent
