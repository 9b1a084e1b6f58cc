"""Form of a gateway group's fair share."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.members.forms import RateField
from apps.members.models import Tariff
from apps.traffic.fairshare.models import FairShare

_MINUTES = _("Minutes, 5 to 60")


def _make_number_field(label: Any, least: int, most: int, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=least, max_value=most, help_text=help_text)


class FairShareForm(forms.Form):
    """Settings of fair share: thresholds, number of members, rates and times. version: the one read, to detect concurrent changes."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    on = forms.BooleanField(
        label=_("Share fairly while the line is full"), required=False, help_text=_("Without it, nobody is limited for that.")
    )
    start_percent = _make_number_field(_("Full from"), 2, 100, _("Per cent of what the uplink carries"))
    end_percent = _make_number_field(_("Full until below"), 1, 99, _("Per cent; the limits are made so that this is reached"))
    calm_minutes = _make_number_field(_("Over after"), 0, 60, _("Minutes below that share; then all are released"))
    minutes = _make_number_field(_("Weigh the last"), 5, 60, _MINUTES)
    most = _make_number_field(_("Limit at most"), 1, 1000, _("Members at once, the heaviest first, and no more than are needed"))
    down_kbit = RateField(label=_("Rate down, Mbit/s"), help_text=_("To the member. Empty: that way as before"))
    up_kbit = RateField(label=_("Rate up, Mbit/s"), help_text=_("From the member. Empty: that way as before"))
    limit_minutes = _make_number_field(
        _("A limit holds for"), 5, 60, _("Minutes, on the gateways by itself; renewed while the line is full")
    )
    exempt = forms.ModelMultipleChoiceField(
        Tariff.objects.all(), label=_("Never limit members with"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, share: FairShare, data: Any = None) -> None:
        names = [name for name in self.base_fields if name != "exempt"]
        initial = {name: getattr(share, name) for name in names} | {"exempt": share.exempt.all() if share.pk else []}
        super().__init__(data, initial=initial)
