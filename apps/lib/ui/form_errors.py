"""Shows the Problems of services in forms."""

from django import forms

from apps.lib.errors import Problem


def add_problem_to_form(form: forms.Form, problem: Problem) -> None:
    """Add the sentence to its field, or to the whole form, and set `form.offer` to the value that would be accepted."""
    form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    form.offer = problem.offer  # type: ignore[attr-defined]  # templates read it
