"""Forms of the webhook pages."""

from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.accounts.collection_names import get_collection_name, iter_collection_groups
from apps.accounts.models import User
from apps.lib.errors import Problem
from apps.lib.ui.checkbox_grid import CheckboxGrid
from apps.lib.ui.form_errors import add_problem_to_form
from apps.webhooks.error_texts import HAPPENINGS
from apps.webhooks.models import Endpoint
from apps.webhooks.services import EndpointFacts, is_visible


def _list_hidden_kinds(owner: User, row: Endpoint | None) -> list[tuple[Promise, list[tuple[str, str | Promise]]]]:
    """Return the chosen kinds that are not sent now, as a group of choices, or nothing."""
    hidden = [(each, get_collection_name(each)) for each in (row.kinds if row else ()) if not is_visible(each, owner)]
    return [(_("Not sent: the owner may not see these, or they no longer exist"), hidden)] if hidden else []


class WebhookForm(forms.Form):
    """Address of a webhook, and which kinds and events it receives.

    The kinds to choose from are those that the owner may see. Other kinds of the row stay chosen until they are unticked: without them
    none might be left, which means all.
    """

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=80)
    url = forms.CharField(
        label=_("Address"), max_length=1000, widget=forms.URLInput(attrs={"placeholder": "https://hooks.example.org/netzwart"})
    )
    kinds = forms.MultipleChoiceField(
        label=_("Kinds of objects"),
        required=False,
        help_text=_("None chosen: all kinds, also new ones."),
        widget=CheckboxGrid(),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        required=False,
        choices=list(HAPPENINGS.items()),
        help_text=_("None chosen: all events."),
        widget=forms.CheckboxSelectMultiple,
    )
    active = forms.BooleanField(label=_("Active"), required=False, help_text=_("While it is off, nothing is queued or sent."))

    def __init__(self, owner: User, data: Any = None, row: Endpoint | None = None) -> None:
        initial: dict[str, Any] = {"active": True}
        if row:
            initial = {name: getattr(row, name) for name in ("version", "name", "url", "kinds", "active")} | {"events": row.on}
        super().__init__(data, initial=initial)
        field: Any = self.fields["kinds"]
        field.choices = [*iter_collection_groups(lambda name: is_visible(name, owner)), *_list_hidden_kinds(owner, row)]

    def to_kwargs(self) -> EndpointFacts:
        """Return the cleaned data as the services expect it."""
        return EndpointFacts(**{name: self.cleaned_data[name] for name in ("name", "url", "kinds", "events", "active")})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
