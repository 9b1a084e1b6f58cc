"""From what services raise to what forms show."""

from django import forms

from apps.lib.errors import Problem


def add_problem_to(form: forms.Form, problem: Problem) -> None:
    """The sentence under its field, or above the form; and the value that would do, as `form.offer`."""
    form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    form.offer = problem.offer  # type: ignore[attr-defined]  # templates read it
