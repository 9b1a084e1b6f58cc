"""The field of a form that says on which day something ends by itself; shared by port forwards and pinholes."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.lib.database.validity import check_reachable
from apps.lib.errors import Problem
from apps.nat.expiry_dates import End, Until
from apps.nat.models import PortForward
from apps.nat.pinholes.models import Pinhole


class LastDayForm(forms.Form):
    """A form with a last day, in the site's zone. An end within a day, as scripts can set it, stays as it is unless its day is changed."""

    until = forms.DateField(label=_("Last day"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))

    def clean_until(self) -> date | None:
        """A day that is not over yet, or none."""
        day: date | None = self.cleaned_data["until"]
        if day and day < timezone.localdate() and "until" in self.changed_data:
            raise forms.ValidationError(_("This day is over."))
        try:
            check_reachable(day, "until")
        except Problem as problem:
            raise forms.ValidationError(str(problem)) from problem
        return day

    def ends(self) -> datetime | None:
        """The end of the last day; None: it has no end."""
        day: date | None = self.cleaned_data["until"]
        return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min)) if day else None

    def changed_end(self) -> Until:
        """`ends`, where the day was changed in a form that showed one."""
        return self.ends() if "until" in self.changed_data else End.UNCHANGED


def build_last_day(row: PortForward | Pinhole) -> dict[str, Any]:
    """The field's value for a row: the day in which it ends, or with which."""
    end: datetime | None = row.valid.upper
    return {"until": timezone.localdate(end - timedelta(microseconds=1))} if end else {}
