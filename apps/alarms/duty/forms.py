"""Forms of the rota: a shift, and a calendar that shifts come from."""

from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.alarms.duty.calendar_events import MOST_OCTETS
from apps.alarms.duty.calendar_services import CalendarFacts
from apps.alarms.duty.models import DutyCalendar
from apps.alarms.duty.selectors import list_candidates
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.ui.local_time_field import LocalTimeField


class PersonField(forms.ModelChoiceField[User]):
    """A choice of the people who may be on duty, by name."""

    def __init__(self, **given: Any) -> None:
        super().__init__(list_candidates(), **given)

    def label_from_instance(self, obj: User) -> str:
        return obj.name


class ShiftForm(forms.Form):
    """Who is on duty, and when."""

    person = PersonField(label=_("Person"), help_text=_("Whoever operates the network may be on duty."))
    begins = LocalTimeField(label=_("Begins"))
    ends = LocalTimeField(label=_("Ends"), is_end=True)

    def __init__(self, data: Any = None, by: User | None = None) -> None:
        now = timezone.localtime().replace(minute=0, second=0, microsecond=0)
        super().__init__(data, initial={"person": by, "begins": now})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)


class CalendarForm(forms.Form):
    """Where shifts come from. The address is not shown again: whoever knows it can read the calendar."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=80)
    address = forms.CharField(
        label=_("Address"),
        max_length=1000,
        required=False,
        help_text=_("Of an iCalendar file, such as the private address of a shared calendar. It is read every quarter of an hour."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "inputmode": "url"}),
    )
    file = forms.FileField(label=_("Or a file"), required=False, help_text=_("One that ends in .ics. To renew it, upload it again."))
    active = forms.BooleanField(label=_("Active"), required=False)

    def __init__(self, data: Any = None, files: Any = None, row: DutyCalendar | None = None) -> None:
        initial: dict[str, Any] = {"active": True}
        if row:
            initial = {name: getattr(row, name) for name in ("version", "name", "active")}
        super().__init__(data, files, initial=initial)
        if row:
            self.fields["address"].help_text = _("Now %(shown)s. Leave it empty to keep it.") % {"shown": row.shown}

    def to_facts(self) -> CalendarFacts:
        """Return the cleaned data as the services expect it. Of a file that is too big, only so much is read that this is seen."""
        given, file = self.cleaned_data, self.cleaned_data["file"]
        content = file.read(MOST_OCTETS + 1) if file else b""
        return CalendarFacts(given["name"], given["address"], content, file.name if file else "", given["active"])

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
