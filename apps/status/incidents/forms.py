"""Forms of incidents: what is affected, what is told, and what was learned."""

from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.ui.local_time_field import LocalTimeField
from apps.members.models import Site
from apps.network.models import Gateway
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.status.incidents.services import LONGEST_REPORT, LONGEST_TEXT, STAGES, IncidentFacts, UpdateFacts
from apps.status.network_services import Impact, NetworkService

FACTS: Final = ("title_en", "title_de", "impact", "services", "began", "planned_end", "public", "attach_tickets")


def _make_text_field(label: Any, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label, help_text=help_text, max_length=LONGEST_TEXT, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )


class IncidentForm(forms.Form):
    """What an incident is about. `kind` is fixed by the page."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    title_en = forms.CharField(
        label=_("Title in English"), max_length=120, required=False, help_text=_("What members notice, such as “Slow in houses A to F”.")
    )
    title_de = forms.CharField(
        label=_("Title in German"), max_length=120, required=False, help_text=_("Where one language is empty, readers get the other.")
    )
    services = forms.MultipleChoiceField(label=_("Affected"), choices=NetworkService.choices, widget=forms.CheckboxSelectMultiple)
    impact = forms.ChoiceField(label=_("What members notice"), choices=Impact.choices)
    sites = forms.ModelMultipleChoiceField(
        Site.objects.all(), label=_("Houses"), required=False, widget=forms.CheckboxSelectMultiple, help_text=_("None chosen: all houses.")
    )
    gateways = forms.ModelMultipleChoiceField(
        Gateway.objects.all(),
        label=_("Gateways"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("For the charts of this page. Never published."),
    )
    began = LocalTimeField(label=_("Began"))
    planned_end = LocalTimeField(label=_("Planned end"), is_end=True)
    public = forms.BooleanField(
        label=_("On the public status page"), required=False, help_text=_("Otherwise only staff see it, and nobody gets a mail.")
    )
    attach_tickets = forms.BooleanField(
        label=_("Attach new tickets by themselves"),
        required=False,
        help_text=_("Those that are opened while it lasts, by members of an affected house."),
    )

    def __init__(self, kind: str, data: Any = None, row: Incident | None = None, initial: dict[str, Any] | None = None) -> None:
        given: dict[str, Any] = {
            "began": timezone.now().replace(second=0, microsecond=0),
            "public": True,
            "impact": Impact.DEGRADED,
            **(initial or {}),
        }
        if row:
            given = {name: getattr(row, name) for name in ("version", *FACTS)} | {"sites": row.sites.all(), "gateways": row.gateways.all()}
        super().__init__(data, initial=given)
        self.kind = kind
        if kind == Incident.Kind.FAULT:
            del self.fields["planned_end"]
        else:
            self.fields["began"].label = _("Begins")
            self.fields["gateways"].help_text = _(
                "For the charts of this page. Their alarms are silent while the work lasts. Never published."
            )

    def to_facts(self) -> IncidentFacts:
        """Return the cleaned data as the services expect it."""
        given = {name: value for name, value in self.cleaned_data.items() if name not in ("version", "sites", "gateways")}
        return IncidentFacts(kind=self.kind, sites=list(self.cleaned_data["sites"]), gateways=list(self.cleaned_data["gateways"]), **given)

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)


class UpdateForm(forms.Form):
    """What is told now."""

    stage = forms.ChoiceField(label=_("Stage"))
    text_en = _make_text_field(_("In English"), _("What is known, what is done, what readers should do. No addresses, no names."))
    text_de = _make_text_field(_("In German"))
    next_update = LocalTimeField(
        label=_("Next update by"), help_text=_("Only promise what somebody will keep."), required=False, is_end=True
    )
    public = forms.BooleanField(label=_("Members read it"), required=False, initial=True, help_text=_("Otherwise it is a note for staff."))
    notify = forms.BooleanField(label=_("Mail it to subscribers"), required=False, initial=True)

    def __init__(self, kind: str, data: Any = None, *, ended: bool = False, next_update: datetime | None = None) -> None:
        stages = STAGES[Incident.Kind(kind)]
        first = IncidentUpdate.Stage.OVER if ended else stages[0]
        super().__init__(data, initial={"stage": first, "next_update": next_update})
        self.fields["stage"].choices = [(each.value, each.label) for each in stages]  # type: ignore[attr-defined]  # a ChoiceField has it

    def to_facts(self) -> UpdateFacts:
        """Return the cleaned data as the services expect it."""
        return UpdateFacts(**self.cleaned_data)

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)


class ReportForm(forms.Form):
    """What was learned."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    report = forms.CharField(
        label=_("Report"),
        max_length=LONGEST_REPORT,
        required=False,
        widget=forms.Textarea(attrs={"rows": 24}),
        help_text=_("For staff. What happened, why, what helped, and what will be different next time. Nobody is to blame."),
    )

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)


class AnswerTicketsForm(forms.Form):
    """One answer to all attached tickets."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    text_en = _make_text_field(_("In English"))
    text_de = _make_text_field(_("In German"))

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"key": uuid4()})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
