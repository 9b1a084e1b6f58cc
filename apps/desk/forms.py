"""Forms of pages that combine several apps: filters in the URL, bulk actions, and addresses for a member."""

from datetime import date, timedelta
from ipaddress import ip_address
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.desk.selectors.members import SORTS, VIEWS, MemberListQuery
from apps.lib.web.query_params import parse_number, parse_text_param
from apps.members.forms import DateInput
from apps.members.models import Member, Site, Tariff
from apps.nat.selectors import list_member_public_addresses
from apps.network.forms import AssignAddressForm
from apps.network.models import Pool
from apps.network.selectors import list_cached_pools


class FilterForm(forms.Form):
    """The filters of the members list. Invalid values are ignored."""

    house = forms.ModelChoiceField(Site.objects.all(), label=_("House"), to_field_name="code", required=False, empty_label=_("any"))
    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=_("Tariff"), required=False, empty_label=_("any"))
    paid_before = forms.DateField(label=_("“Paid until” before"), widget=DateInput, required=False)


def parse_members_query(params: QueryDict) -> MemberListQuery:
    """Parse the URL's parameters; invalid ones get their defaults."""
    form = FilterForm(params)
    form.is_valid()
    sort, view = params.get("sort", ""), params.get("view", "")
    return MemberListQuery(
        q=parse_text_param(params, "q"),
        view=view if view in VIEWS else "all",
        sort=sort if sort.removeprefix("-") in SORTS else "name",
        page=max(1, parse_number(params, "page")),
        **{name: form.cleaned_data.get(name) for name in ("house", "tariff", "paid_before")},
    )


class ExtendForm(forms.Form):
    """A new “paid until” for members."""

    until = forms.DateField(label=_("Paid until"), widget=DateInput)

    def __init__(self, data: Any = None, *, today: date) -> None:
        super().__init__(data, initial={"until": compute_next_half_year_end(today)})


class ChangeTariffForm(forms.Form):
    """A new tariff for members."""

    tariff = forms.ModelChoiceField(Tariff.objects.filter(offered=True), label=_("Tariff"), empty_label=None)


def compute_next_half_year_end(today: date) -> date:
    """Return the end of the next half-year: members pay by half-years."""
    return date(today.year, 12, 31) if today.month <= 6 else date(today.year + 1, 7, 1) - timedelta(days=1)


class AssignAddressWithNatForm(AssignAddressForm):
    """An address for a member, and the public address as which it leaves."""

    NEXT = "next"  # the next free one of any pool; "next 3": of the pool with id 3

    leaves = forms.ChoiceField(label=_("Public address"), required=False)

    field_order = ("pool", "prefix", "leaves", "device")

    def __init__(self, member: Member, data: Any = None) -> None:
        super().__init__(member, data)
        used = list_member_public_addresses(member)
        some = self._list_next_choices()
        self.fields["leaves"].choices = [*((each, each) for each in used), *some, ("", _("no public address"))]  # type: ignore[attr-defined]
        self.fields["leaves"].initial = [*used, *(key for key, _words in some), ""][0]
        self.fields["leaves"].widget.attrs["title"] = _("For private IPv4 addresses")

    @classmethod
    def _list_next_choices(cls) -> list[tuple[str, str | Promise]]:
        """Return the choices for the next free place: of any pool, and of each pool if there are several."""
        pools = [pool for pool in list_cached_pools() if pool.kind == Pool.Kind.PUBLIC4 and pool.retired is None]
        each = [(f"{cls.NEXT} {pool.pk}", _("the next in %(pool)s") % {"pool": pool}) for pool in pools]
        return [(cls.NEXT, _("the next free one")), *(each if len(each) > 1 else [])] if pools else []

    @classmethod
    def parse_public_choice(cls, chosen: str) -> dict[str, Any]:
        """Return the choice as arguments of the service."""
        if chosen == cls.NEXT:
            return {}
        if chosen.startswith(f"{cls.NEXT} "):
            return {"pool": Pool.objects.get(pk=chosen.removeprefix(f"{cls.NEXT} "))}
        return {"public": ip_address(chosen)}
