"""What the address of a page may ask for, and what is entered on pages that look across apps."""

from datetime import date, timedelta
from ipaddress import ip_address
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.members.forms import DateInput
from apps.members.models import Member, Site, Tariff
from apps.nat.selectors import list_public_addresses, list_public_pools
from apps.network.forms import HoldForm
from apps.network.models import Pool


class FilterForm(forms.Form):
    """The filters of the members list. What makes no sense is as if it were not there."""

    house = forms.ModelChoiceField(Site.objects.all(), label=_("House"), to_field_name="code", required=False, empty_label=_("any"))
    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=_("Tariff"), required=False, empty_label=_("any"))
    paid_before = forms.DateField(label=_("Paid until before"), widget=DateInput, required=False)


class ExtendForm(forms.Form):
    """Until when members are paid."""

    until = forms.DateField(label=_("Paid until"), widget=DateInput)

    def __init__(self, data: Any = None, *, today: date) -> None:
        super().__init__(data, initial={"until": compute_half_year_end(today)})


class ChangeTariffForm(forms.Form):
    """Which tariff members get."""

    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=_("Tariff"), empty_label=None)


def compute_half_year_end(today: date) -> date:
    """The end of the half-year after this one: terms are paid by halves."""
    return date(today.year, 12, 31) if today.month <= 6 else date(today.year + 1, 7, 1) - timedelta(days=1)


class HoldingForm(HoldForm):
    """An address for a member, and as what it leaves."""

    NEXT = "next"  # free one of any pool; "next 3": of the pool with this id

    leaves = forms.ChoiceField(label=_("Leaves as"), required=False)

    field_order = ("pool", "prefix", "leaves", "device")

    def __init__(self, member: Member, data: Any = None) -> None:
        super().__init__(member, data)
        used = list_public_addresses(member)
        some = self._next()
        self.fields["leaves"].choices = [*((each, each) for each in used), *some, ("", _("nothing public"))]  # type: ignore[attr-defined]
        self.fields["leaves"].initial = [*used, *(key for key, _words in some), ""][0]
        self.fields["leaves"].widget.attrs["title"] = _("For private IPv4 addresses")

    @classmethod
    def _next(cls) -> list[tuple[str, str | Promise]]:
        """The next place of any pool; where there are several, of each of them too."""
        pools = list(list_public_pools().order_by("prefix"))
        each = [(f"{cls.NEXT} {pool.pk}", _("the next in %(pool)s") % {"pool": pool}) for pool in pools]
        return [(cls.NEXT, _("the next that is free")), *(each if len(each) > 1 else [])] if pools else []

    @classmethod
    def place(cls, chosen: str) -> dict[str, Any]:
        """What was chosen, as the service takes it."""
        if chosen == cls.NEXT:
            return {}
        if chosen.startswith(f"{cls.NEXT} "):
            return {"pool": Pool.objects.get(pk=chosen.removeprefix(f"{cls.NEXT} "))}
        return {"public": ip_address(chosen)}
