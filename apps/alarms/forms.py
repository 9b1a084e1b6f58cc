"""Form of a silence."""

from datetime import datetime, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form

TERMS: Final = {"1h": timedelta(hours=1), "4h": timedelta(hours=4), "1d": timedelta(days=1), "7d": timedelta(days=7)}
TERM_CHOICES: Final = [
    ("1h", gettext_lazy("in 1 hour")),
    ("4h", gettext_lazy("in 4 hours")),
    ("1d", gettext_lazy("in 1 day")),
    ("7d", gettext_lazy("in 1 week")),
    ("at", gettext_lazy("at a certain time")),
]
LOCAL: Final = "%Y-%m-%dT%H:%M"  # format of a browser's datetime-local field


class SilenceForm(forms.Form):
    """The end of a silence, after a while or at a time, which takes precedence when it is given; and the reason."""

    term = forms.ChoiceField(label=gettext_lazy("Ends"), choices=TERM_CHOICES)
    until = forms.DateTimeField(
        label=gettext_lazy("or at"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=LOCAL)
    )
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=200, help_text=gettext_lazy("Others see it beside the silence."))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("term") == "at" and "until" in cleaned and cleaned["until"] is None:
            self.add_error("until", _("Enter a time, or choose an end from the list."))
        return cleaned

    def compute_end(self) -> datetime:
        """Return the end."""
        until: datetime | None = self.cleaned_data["until"]
        return until or timezone.now() + TERMS[self.cleaned_data["term"]]

    def add_problem(self, problem: Problem) -> None:
        """Show the service's objection in the form."""
        add_problem_to_form(self, problem)
