"""Form for changing an account's roles."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.role_changes import list_grantable_roles
from apps.accounts.roles import Role


class RolesForm(forms.Form):
    """New roles of an account, with the reason. `before`: the roles that the page showed."""

    before = forms.CharField(widget=forms.HiddenInput, required=False, max_length=200)
    roles = forms.MultipleChoiceField(label=_("Roles"), choices=Role.choices, required=False, widget=forms.CheckboxSelectMultiple)
    reason = forms.CharField(label=_("Why"), max_length=200, help_text=_("Shown with the change later"))

    def __init__(self, user: User, by: User, data: Any = None) -> None:
        super().__init__(data, initial={"roles": user.roles, "before": ",".join(user.roles)})
        lacking = [str(role.label) for role in Role if role not in list_grantable_roles(by) and role.value not in user.roles]
        if lacking:
            self.fields["roles"].help_text = _("You cannot give: %(roles)s") % {"roles": ", ".join(lacking)}

    def list_shown_roles(self) -> list[str]:
        """Return the roles that the page showed."""
        return [role for role in self.cleaned_data["before"].split(",") if role]
