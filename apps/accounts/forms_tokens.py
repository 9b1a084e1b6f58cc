"""The form of a new token."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.accounts.adapter import confirm_password
from apps.accounts.models import User
from apps.accounts.routes import API
from apps.accounts.tokens import EVERY, READ, WRITE
from apps.lib.fields import Prefix, PrefixField

DAYS = {
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "365": gettext_lazy("a year"),
    "": gettext_lazy("never: until it is revoked"),
}


class TokenForm(forms.Form):
    """What a token is for, and what it may do at most."""

    name = forms.CharField(
        label=gettext_lazy("What for"), max_length=80, widget=forms.TextInput(attrs={"placeholder": gettext_lazy("backup script")})
    )
    level = forms.ChoiceField(
        label=gettext_lazy("It may"),
        choices=[
            (READ, gettext_lazy("read")),
            (WRITE, gettext_lazy("read and write")),
        ],
    )
    collections = forms.MultipleChoiceField(
        label=gettext_lazy("Of these collections"),
        required=False,
        help_text=gettext_lazy("None chosen: of all, also of those that come later."),
        widget=forms.SelectMultiple(attrs={"size": 8}),
    )
    networks = forms.CharField(
        label=gettext_lazy("Only from these networks"),
        required=False,
        max_length=500,
        help_text=gettext_lazy("Addresses or prefixes with commas between them. Empty: from anywhere."),
    )
    days = forms.ChoiceField(label=gettext_lazy("It ends after"), choices=list(DAYS.items()), required=False, initial="90")
    password = forms.CharField(
        label=gettext_lazy("Your password"), max_length=200, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, by: User, data: Any = None) -> None:
        super().__init__(data)
        self.by = by
        self.fields["collections"].choices = [(name, name) for name in API]  # type: ignore[attr-defined]  # a field of choices
        if not by.has_usable_password():  # who signs in elsewhere has none to give
            del self.fields["password"]

    def clean_password(self) -> str:
        confirm_password(self.by, self.cleaned_data["password"])
        return ""

    def clean_networks(self) -> list[Prefix]:
        found = []
        for text in self.cleaned_data["networks"].replace(",", " ").split():
            try:
                found.append(PrefixField().parse(text))
            except ValueError as error:
                raise forms.ValidationError(_("“%(text)s” is no address or prefix.") % {"text": text}) from error
        return found

    def scopes(self) -> list[str] | None:
        """As `tokens.create` takes them."""
        level, chosen = self.cleaned_data["level"], self.cleaned_data["collections"]
        if level == WRITE and not chosen:
            return None
        return [f"{name}:{level}" for name in chosen or [EVERY]]

    def expires(self) -> datetime | None:
        """When it ends."""
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=int(days)) if days else None
