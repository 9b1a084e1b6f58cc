"""Shows the Problems of services in forms."""

from typing import Any

from django import forms
from django.forms.widgets import ChoiceWidget
from django.utils.translation import gettext as _

from apps.lib.errors import Conflict, Problem


def add_problem_to_form(form: forms.Form, problem: Problem) -> None:
    """Add the sentence to its field, or to the whole form, and set `form.offer` to the value that would be accepted.

    After a Conflict, a form that changes a row (its initial values are the row's, among them `version`) shows beside the input what
    somebody else saved, and its next click saves the input over that.
    """
    form.add_error(problem.fieldname if problem.fieldname in form.fields else None, str(problem))
    form.offer = problem.offer  # type: ignore[attr-defined]  # templates read it
    if isinstance(problem, Conflict) and form.initial.get("version") is not None:
        _show_saved_values(form)
        replace_input(form, "version", str(form.initial["version"]))  # if it changes again before the next click, that is refused too


def replace_input(form: forms.Form, name: str, text: str) -> None:
    """Have the page that shows the form again send this text in the field, instead of what was sent."""
    sent = form.data.copy()  # type: ignore[attr-defined]  # a page's form has what a browser sent, which can be copied
    sent[form.add_prefix(name)] = text
    form.data = sent


def _show_saved_values(form: forms.Form) -> None:
    """Set `saved_meanwhile` at each field whose saved value differs from the input. Long texts are left to the row's history."""
    for name in form.changed_data:
        field = form.fields[name]
        if name not in form.initial or field.widget.is_hidden or isinstance(field.widget, forms.Textarea):
            continue
        saved, typed = _format_value(field, form.initial[name]), _format_value(field, form.cleaned_data.get(name))
        if saved != typed:
            field.saved_meanwhile = saved or _("nothing")  # type: ignore[attr-defined]  # templates read it


def _format_value(field: forms.Field, value: Any) -> str:
    """Return the value as the field shows it: a choice in its words."""
    shown = field.prepare_value(value)
    if isinstance(field, forms.BooleanField):
        return _("yes") if shown else _("no")
    if isinstance(field.widget, ChoiceWidget):
        groups = field.widget.optgroups("", field.widget.format_value(shown))
        return ", ".join(str(each["label"]) for _name, options, _index in groups for each in options if each["selected"])
    return str(field.widget.format_value(shown) or "")
