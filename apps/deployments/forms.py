"""Forms for decisions about rollouts: approval, refusal and rollback."""

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.password_field import OwnPasswordField
from apps.deployments.approvals.eligibility import ApproverStanding, compute_standing
from apps.deployments.approvals.kinds import SPECIAL
from apps.deployments.models import HeldBack, Hold
from apps.lib.ui import formats


class ApprovalForm(forms.Form):
    """Approval of exactly the part that the page showed, identified by its digest.

    Removals ask for their number; users who approve their own change are asked for their password. password_confirmed: they have just
    given it for this submission.
    """

    digest = forms.CharField(widget=forms.HiddenInput, max_length=64)
    typed = forms.CharField(max_length=20, widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}))

    def __init__(self, held: HeldBack, by: User, data: Any = None, *, password_confirmed: bool = False) -> None:
        super().__init__(data, initial={"digest": held.digest}, auto_id=f"held-{held.pk}-%s")
        self.held = held
        self.standing: ApproverStanding = compute_standing(held, by)
        self.signs_in_again = self.standing.has_to_sign_in_again
        self.fields["typed"].label = gettext("Type %(number)s to approve") % {"number": formats.format_number(held.removed)}
        if held.kind in SPECIAL:
            del self.fields["typed"]
        if self.signs_in_again and by.has_usable_password():  # accounts without a password have just confirmed it in another way
            self.fields["password"] = OwnPasswordField(by, confirmed=password_confirmed)

    def clean_typed(self) -> str:
        typed = "".join(character for character in self.cleaned_data["typed"] if character.isdigit())
        if typed != str(self.held.removed):
            words = gettext("Type %(number)s, the number of removals that you approve.")
            raise forms.ValidationError(words % {"number": formats.format_number(self.held.removed)})
        return typed


class RefusalForm(forms.Form):
    """Refusal of a held-back part, with its reason; bound by digest to what the page showed."""

    digest = forms.CharField(widget=forms.HiddenInput, max_length=64)
    reason = forms.CharField(
        label=_("Reason for the refusal"),
        max_length=HeldBack._meta.get_field("reason").max_length,
        help_text=_("Recorded in the history, and mailed to the people who requested it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, held: HeldBack, data: Any = None) -> None:
        super().__init__(data, initial={"digest": held.digest}, auto_id=f"refuse-{held.pk}-%s")


class RollbackForm(forms.Form):
    """Reason for a rollback. alone: an emergency that skips the second person, for which the user signs in again.

    password_confirmed: the user has just given the password for this submission.
    """

    why = forms.CharField(
        label=_("Why"),
        max_length=Hold._meta.get_field("why").max_length,
        help_text=_("Tells others why the group is on hold, such as “members cannot reach their mail since r4813”."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    alone = forms.BooleanField(
        label=_("This is an emergency: go back at once, without a second person"),
        required=False,
        help_text=_("Needs your password. The history records it for good, and all approvers get a mail."),
    )
    password = forms.CharField(
        label=_("Your password"),
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, by: User, data: Any = None, *, two: bool = True, password_confirmed: bool = False) -> None:
        super().__init__(data)
        self.demanded_password = OwnPasswordField(by, confirmed=password_confirmed)
        if not two:
            del self.fields["alone"]
        if not (two and by.has_usable_password()):  # accounts without a password have just confirmed it in another way
            del self.fields["password"]

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        if given.get("alone") and "password" in self.fields:
            try:
                self.demanded_password.clean(given.get("password", ""))
            except forms.ValidationError as error:
                self.add_error("password", error)
        return given
