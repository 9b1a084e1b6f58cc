"""Form of a silence."""

from datetime import datetime
from typing import TypedDict

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.bans.forms import TERM_CHOICES, EndForm


class SilenceFacts(TypedDict):
    """What a person says of a silence."""

    until: datetime
    reason: str


class SilenceForm(EndForm):
    """The end of a silence, after a while or at a time, and the reason."""

    term = forms.ChoiceField(label=_("Ends"), choices=[each for each in TERM_CHOICES if each[0] != "never"], initial="1h")
    reason = forms.CharField(label=_("Reason"), max_length=200, help_text=_("Others see it beside the silence."))

    def to_kwargs(self) -> SilenceFacts:
        """Return the cleaned data as the service expects it."""
        end = self.compute_end()
        if end is None:
            raise ValueError("no choice of this form means never")
        return {"until": end, "reason": self.cleaned_data["reason"]}
