"""What people fill in to get in: the words are ours, the rest is allauth's."""

from typing import Any

from allauth.account.forms import LoginForm as Login
from django import forms
from django.utils.translation import gettext_lazy as _


class LoginForm(Login):  # type: ignore[misc]  # allauth has no types
    """Name or address, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("Username or e-mail address")
        self.fields["login"].widget = forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True})
        password = forms.PasswordInput(attrs={"autocomplete": "current-password"})
        self.fields["password"] = forms.CharField(label=_("Password"), max_length=200, widget=password)
        self.fields["remember"].label = _("Stay signed in for two weeks")
