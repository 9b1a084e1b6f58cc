"""Form field for the password of the person who sends the form."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.adapter import confirm_password
from apps.accounts.models import User


class OwnPasswordField(forms.CharField):
    """The sender's own password, as a confirmation: its value is always empty. Wrong attempts count as they do when signing in.

    With `confirmed`, the sender has just given it for this submission. Then it is not demanded, but the field is there for the next one.
    """

    def __init__(self, by: User, *, confirmed: bool = False) -> None:
        widget = forms.PasswordInput(attrs={"autocomplete": "current-password"})
        super().__init__(label=_("Your password"), max_length=200, widget=widget)
        self.by, self.confirmed = by, confirmed

    def clean(self, value: Any) -> str:
        """Return nothing. Raises ValidationError if the password is missing or wrong."""
        if not self.confirmed:
            confirm_password(self.by, super().clean(value))
        return ""
