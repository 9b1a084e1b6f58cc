"""What the address of a page may ask for, and what is entered on pages that look across apps."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.members.forms import DateInput
from apps.members.models import Member, Site, Tariff
from apps.nat.selectors import public_addresses_of, public_pools
from apps.network.forms import HoldForm


class FilterForm(forms.Form):
    """The filters of the members list. What makes no sense is as if it were not there."""

    house = forms.ModelChoiceField(Site.objects.all(), label=_("House"), to_field_name="code", required=False, empty_label=_("any"))
    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=_("Tariff"), required=False, empty_label=_("any"))
    paid_before = forms.DateField(label=_("Paid until before"), widget=DateInput, required=False)


class ExtendForm(forms.Form):
    """Until when members are paid."""

    until = forms.DateField(label=_("Paid until"), widget=DateInput)

    def __init__(self, data: Any = None, *, today: date) -> None:
        super().__init__(data, initial={"until": half_year_end(today)})


class TariffForm(forms.Form):
    """Which tariff members get."""

    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=_("Tariff"), empty_label=None)


def half_year_end(today: date) -> date:
    """The end of the half-year after this one: terms are paid by halves."""
    return date(today.year, 12, 31) if today.month <= 6 else date(today.year + 1, 7, 1) - timedelta(days=1)


class HoldingForm(HoldForm):
    """An address for a member, and as what it leaves."""

    LEAST_USED = "least used"

    leaves = forms.ChoiceField(label=_("Leaves as"), required=False)

    field_order = ("pool", "prefix", "leaves", "device")

    def __init__(self, member: Member, data: Any = None) -> None:
        super().__init__(member, data)
        used = public_addresses_of(member)
        some = [(self.LEAST_USED, _("the least used public address"))] if public_pools().exists() else []
        self.fields["leaves"].choices = [*((each, each) for each in used), *some, ("", _("nothing public"))]  # type: ignore[attr-defined]
        self.fields["leaves"].initial = [*used, *(key for key, _words in some), ""][0]
        self.fields["leaves"].widget.attrs["title"] = _("For private IPv4 addresses")
