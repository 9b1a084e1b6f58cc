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
        label=_("Share fairly while the uplink is full"),
        required=False,
        help_text=_("If off, no member is limited because of a full uplink."),
    )
    start_percent = _make_number_field(_("Start threshold"), 2, 100, _("Per cent of the uplink’s rate; from there on it counts as full"))
    end_percent = _make_number_field(_("End threshold"), 1, 99, _("Per cent; as many members are limited as it takes to get below this"))
    calm_minutes = _make_number_field(_("Release after"), 0, 60, _("Minutes below the end threshold; then all limits are released"))
    minutes = _make_number_field(_("Usage period"), 5, 60, _MINUTES)
    most = _make_number_field(
        _("Members limited at once, at most"), 1, 1000, _("Members, those with the most traffic first, and no more than needed")
    )
    down_kbit = RateField(label=_("Download rate, Mbit/s"), help_text=_("To the member. Empty: only the tariff’s rate"))
    up_kbit = RateField(label=_("Upload rate, Mbit/s"), help_text=_("From the member. Empty: only the tariff’s rate"))
    limit_minutes = _make_number_field(
        _("Duration of a limit"), 5, 60, _("Minutes; the gateways then end it by themselves. Renewed while the uplink is full")
    )
    exempt = forms.ModelMultipleChoiceField(
        Tariff.objects.all(), label=_("Exempt tariffs"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, share: FairShare, data: Any = None) -> None:
        names = [name for name in self.base_fields if name != "exempt"]
        initial = {name: getattr(share, name) for name in names} | {"exempt": share.exempt.all() if share.pk else []}
        super().__init__(data, initial=initial)
