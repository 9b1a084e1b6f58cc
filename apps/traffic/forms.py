"""Forms of windows and quotas."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from apps.lib.ui import formats
from apps.lib.ui.local_time_field import LocalTimeField
from apps.preferences.declarations import KEEP_DAYS_DAYS
from apps.preferences.selectors import read_setting
from apps.traffic import windows
from apps.traffic.models import Quota
from apps.traffic.quotas import MAX_QUOTA_OCTETS
from apps.traffic.windows import TimeWindow

GIGA: Final = 10**9


class WindowForm(forms.Form):
    """Start and end of a window; without both, a preset."""

    since = LocalTimeField(label=pgettext_lazy("time", "From"), required=False)
    until = LocalTimeField(label=pgettext_lazy("time", "To"), required=False, is_end=True)

    def __init__(self, data: Any, *, now: datetime) -> None:
        super().__init__(data)
        self.now = now

    @property
    def is_chosen(self) -> bool:
        """True if one of the fields is filled in."""
        return any(self.data.get(name) for name in self.fields)

    def clean_since(self) -> datetime | None:
        since: datetime | None = self.cleaned_data["since"]
        if since is None:
            if self.data.get("until"):
                raise forms.ValidationError(_("Fill in “From”, too."))
            return None
        if since >= self.now:
            raise forms.ValidationError(_("This time is in the future. Choose a time that has passed."))
        oldest = self.now - timedelta(days=read_setting(KEEP_DAYS_DAYS))
        if since < oldest:
            raise forms.ValidationError(
                _("Usage before %(day)s is no longer kept. Choose a later time.") % {"day": formats.format_day(oldest)}
            )
        return since

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until <= since:
            self.add_error("until", _("“To” must be after “From”. Choose a later time, or leave it empty to mean now."))
        return cleaned

    def build_window(self) -> TimeWindow:
        """Return the chosen window; the form must be valid."""
        since, until = self.cleaned_data["since"], self.cleaned_data["until"]
        if since is None:
            return windows.build_recent_window(self.now, windows.parse_preset(self.data.get("window", "")), windows.LISTS)
        return windows.build_window(since, min(until or self.now, self.now))


class QuotaForm(forms.Form):
    """A tariff's quota, in GB a month."""

    gigabytes = forms.DecimalField(
        label=gettext_lazy("Quota, GB a month"), required=False, decimal_places=3,
        min_value=Decimal("0.001"), max_value=Decimal(MAX_QUOTA_OCTETS) / GIGA,
        help_text=gettext_lazy("Up and down together, in a calendar month. Empty: no quota"),
        widget=forms.NumberInput(attrs={"inputmode": "decimal", "step": "any"}),
    )  # fmt: skip

    def __init__(self, quota: Quota | None, data: Any = None) -> None:
        super().__init__(data, initial={"gigabytes": f"{(Decimal(quota.octets) / GIGA).normalize():f}"} if quota else None)

    def to_octets(self) -> int | None:
        """Return the quota in octets as the service takes it, None for no quota; the form must be valid."""
        given: Decimal | None = self.cleaned_data["gigabytes"]
        return None if given is None else int(given * GIGA)
