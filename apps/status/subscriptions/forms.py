"""Form of a subscription."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form


class SubscribeForm(forms.Form):
    """Where updates go, and in which language."""

    address = forms.EmailField(
        label=_("Your e-mail address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email", "inputmode": "email"})
    )
    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"language": get_language()})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
