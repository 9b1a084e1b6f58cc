"""Forms for signing in, passwords and invitations: allauth's logic with our own labels."""

from typing import Any

from allauth.account.forms import ChangePasswordForm as Change
from allauth.account.forms import LoginForm as Login
from allauth.account.forms import ResetPasswordForm as Forgotten
from allauth.account.forms import ResetPasswordKeyForm as Reset
from allauth.account.models import EmailAddress
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from apps.accounts import tokens
from apps.accounts.address_owners import list_accounts_of_address
from apps.accounts.models import User
from apps.accounts.password_field import OwnPasswordField
from apps.accounts.role_changes import list_invitable_roles
from apps.accounts.roles import Role
from apps.lib.email_address import lower_ascii


class LoginForm(Login):  # type: ignore[misc]  # allauth has no types
    """Name or address, and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("Username or e-mail address")
        self.fields["login"].widget = forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True})
        password = forms.PasswordInput(attrs={"autocomplete": "current-password"})
        self.fields["password"] = forms.CharField(label=_("Password"), max_length=200, widget=password)
        self.fields["remember"].label = _("Stay signed in for two weeks")


class RevokeTokensMixin(forms.Form):
    """Part of a form for a new password that asks owners of tokens whether to revoke these too."""

    user: Any  # allauth's forms set it, to None if a link is not valid

    revoke_tokens = forms.BooleanField(
        label=_("Revoke my tokens for scripts as well"),
        required=False,
        help_text=_("Otherwise they stay valid: a token does not depend on the password."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.user is None or not self.user.tokens.exists():
            del self.fields["revoke_tokens"]

    def save(self) -> None:
        super().save()  # type: ignore[misc]  # allauth's form defines it
        if self.cleaned_data.get("revoke_tokens"):
            tokens.revoke_all_tokens(user=self.user)


class ChangePasswordForm(RevokeTokensMixin, Change):  # type: ignore[misc]  # allauth has no types
    """The old password and the new one."""


class ForgottenPasswordForm(Forgotten):  # type: ignore[misc]  # allauth has no types
    """The address of an account, to which a link for a new password is sent."""

    def clean_email(self) -> str:
        address = lower_ascii(self.cleaned_data["email"])
        self.users = [user for user in list_accounts_of_address(address) if user.is_active]
        return address


class ResetPasswordForm(RevokeTokensMixin, Reset):  # type: ignore[misc]  # allauth has no types
    """A new password, after the link in a mail."""

    def save(self) -> None:
        """Set the password and drop a change of the address that waits.

        Somebody else may have begun it. And allauth then resets the count of wrong attempts for each address of the account: noting
        an address would give new attempts at the account of its owner.
        """
        super().save()
        EmailAddress.objects.filter(user=self.user, verified=False).exclude(email__iexact=self.user.email).delete()


class InvitationForm(forms.Form):
    """E-mail address and roles of an invitation.

    password_confirmed: the sender has just given the password for this submission.
    """

    email = forms.EmailField(label=_("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "off"}))
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, widget=forms.CheckboxSelectMultiple)

    def __init__(self, by: User, data: Any = None, *, password_confirmed: bool = False) -> None:
        super().__init__(data)
        given = list_invitable_roles(by)
        self.fields["roles"].choices = [(role.value, role.label) for role in Role if role in given]  # type: ignore[attr-defined]
        self.fields["password"] = OwnPasswordField(by, confirmed=password_confirmed)


class AcceptInvitationForm(forms.Form):
    """Name and password that an invited person chooses."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    first_name = forms.CharField(label=_("First name"), max_length=150)
    last_name = forms.CharField(label=_("Last name"), max_length=150)
    password = forms.CharField(label=_("Password"), max_length=200, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password
