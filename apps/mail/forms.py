"""Forms of the outbox."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form


class DiscardForm(forms.Form):
    """Asks for the reason why a mail is not sent."""

    reason = forms.CharField(label=_("Reason"), max_length=200, help_text=_("It is shown with the mail."))

    def add_problem(self, problem: Problem) -> None:
        """Show the service's objection in the form."""
        add_problem_to_form(self, problem)
