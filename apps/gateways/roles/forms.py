"""Form of a switch: which families a gateway gives up, or is ready for again."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.gateways.roles.switch_plan import SwitchPlan


class SwitchForm(forms.Form):
    """Choice of the families; all of them at first."""

    families = forms.TypedMultipleChoiceField(coerce=int, label=_("Families"), widget=forms.CheckboxSelectMultiple)

    def __init__(self, plan: SwitchPlan, data: Any = None) -> None:
        super().__init__(data, initial={"families": list(plan.families)})
        self.fields["families"].choices = [(family, f"IPv{family}") for family in plan.families]  # type: ignore[attr-defined]
