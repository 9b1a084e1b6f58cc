"""Form field for the last day of a port forward or pinhole."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.errors import Problem
from apps.nat.expiry_dates import EndSentinel, Until
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


class LastDayForm(forms.Form):
    """Form with a last day, in the site's zone. An end within a day, as scripts can set it, stays unless the day is changed."""

    until = forms.DateField(label=_("Last day"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))

    def clean_until(self) -> date | None:
        """Return the day, or None. A day that was changed must not be over."""
        day: date | None = self.cleaned_data["until"]
        if day and day < timezone.localdate() and "until" in self.changed_data:
            raise forms.ValidationError(_("This day is in the past."))
        try:
            check_not_too_far_ahead(day, "until")
        except Problem as problem:
            raise forms.ValidationError(str(problem)) from problem
        return day

    def get_end(self) -> datetime | None:
        """Return the end of the last day; None: no end."""
        day: date | None = self.cleaned_data["until"]
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min)) if day else None

    def get_changed_end(self) -> Until:
        """Return `ends` if the day was changed in the form, otherwise UNCHANGED."""
        return self.get_end() if "until" in self.changed_data else EndSentinel.UNCHANGED


def build_last_day_initial(row: PortForward | Pinhole) -> dict[str, Any]:
    """Return the field's initial value for a row: the last day on which it holds, None without an end."""
    end: datetime | None = row.valid.upper
    return {"until": timezone.localdate(end - timedelta(microseconds=1)) if end else None}
