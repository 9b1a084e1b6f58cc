"""Forms of addresses and pools."""

from datetime import datetime
from typing import Any, cast

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import AddressField, PrefixField
from apps.lib.local_time import list_meanings
from apps.lib.ui import formats
from apps.lib.ui.local_time_field import LocalTimeField
from apps.lib.ui.row_choice_field import CachedModelChoiceField
from apps.members.models import Device, Member
from apps.members.selectors import list_cached_devices
from apps.network.models import BLOCK_SIZES, MOST_KEPT_FIRST, GatewayGroup, Pool, count_port_blocks
from apps.network.selectors import list_cached_pools


class PrefixFormField(forms.CharField):
    """Form field for an address or a prefix."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return PrefixField().to_python(text) if text else None


class AddressFormField(forms.CharField):
    """Form field for one address."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return AddressField().to_python(text) if text else None


class PrefixListFormField(forms.CharField):
    """Form field for several addresses or prefixes, separated by commas, spaces or line breaks."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        return [PrefixField().to_python(each) for each in super().clean(value).replace(",", " ").split()]


class AssignAddressForm(forms.Form):
    """Assigns a member an address of a pool: the next free one, or a given one."""

    pool = CachedModelChoiceField(Pool.objects.none(), label=_("Pool"), empty_label=None)
    prefix = PrefixFormField(  # type: ignore[assignment]  # a field, which Django takes off the class
        label=_("Address"),
        max_length=50,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": _("the next free one")}),
    )
    device = CachedModelChoiceField(Device.objects.none(), label=_("Device"), required=False, empty_label=_("all devices"))

    offer = ""  # an address that is free, if the given one is not possible

    def __init__(self, member: Member, data: Any = None) -> None:
        super().__init__(data, prefix="hold")
        pool, device = (
            cast("CachedModelChoiceField[Pool]", self.fields["pool"]),
            cast("CachedModelChoiceField[Device]", self.fields["device"]),
        )
        pool.queryset = Pool.objects.filter(retired=None).exclude(kind=Pool.Kind.PUBLIC4).order_by("prefix")
        pool.rows = [each for each in list_cached_pools() if each.retired is None and each.kind != Pool.Kind.PUBLIC4]
        device.queryset, device.rows = member.devices.all(), list_cached_devices(member)


def _describe_block_size(size: int) -> str:
    return _("%(n)s ports: %(members)s members per address") % {
        "n": formats.format_number(size),
        "members": formats.format_number(count_port_blocks(size)),
    }


class PoolForm(forms.Form):
    """Changes a pool: its name, its prefix, and how members share a public one. Kind and group cannot be changed."""

    PUBLIC_ONLY, INSIDE_ONLY = ("sharing", "block_size"), ("kept_first", "kept")

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1, required=False)
    name = forms.CharField(label=_("Name"), max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    prefix = PrefixFormField(  # type: ignore[assignment]  # a field, which Django takes off the class
        label=_("Prefix"),
        max_length=50,
        help_text=_("Like 10.16.0.0/12 or 2001:db8:a0::/44"),
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    kept_first = forms.IntegerField(
        label=_("First addresses kept free"),
        min_value=0,
        max_value=MOST_KEPT_FIRST,
        required=False,
        help_text=_("For routers and servers: members do not get them. Of an IPv6 pool, prefixes"),
    )
    kept = PrefixListFormField(
        label=_("Also keep free"),
        max_length=3000,
        required=False,
        help_text=_("Addresses or prefixes, like 10.16.255.254, 10.16.8.0/24"),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )
    sharing = forms.ChoiceField(
        label=_("How members use it"),
        choices=Pool.Sharing,
        help_text=_(
            "Games and calls work with each of them. With own addresses or blocks, an address and a port show which member it was."
        ),
    )
    block_size = forms.TypedChoiceField(label=_("Ports per block"), coerce=int, empty_value=None, required=False)

    def __init__(self, data: Any = None, *, public: bool = True, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        self._public = public
        self.fields["block_size"].choices = [("", _("no blocks")), *((size, _describe_block_size(size)) for size in BLOCK_SIZES)]  # type: ignore[attr-defined]
        for name in self._list_superfluous():
            del self.fields[name]

    def clean_kept_first(self) -> int | None:
        """Return the number; nothing entered means none."""
        return self.cleaned_data["kept_first"] or 0

    def _list_superfluous(self) -> tuple[str, ...]:
        """Return the fields that a pool of this kind does not have."""
        return self.INSIDE_ONLY if self._public else self.PUBLIC_ONLY


class NewPoolForm(PoolForm):
    """Adds a pool."""

    FITTING = ("", _("each member has an address if there are enough, otherwise a block of ports"))

    kind = forms.ChoiceField(label=_("Kind"), choices=Pool.Kind)
    group = forms.ModelChoiceField(GatewayGroup.objects.all(), label=_("Gateway group"), empty_label=None)
    member_length = forms.IntegerField(
        label=_("Prefix length per member"),
        min_value=32,
        max_value=64,
        initial=64,
        help_text=_("Only for IPv6 prefixes: 64 gives each member a /64"),
    )

    field_order = ("name", "kind", "prefix", "member_length", "kept_first", "kept", "sharing", "block_size", "group")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["kept_first"].widget.attrs["placeholder"] = _("10, fewer in a small pool")
        sharing = self.fields["sharing"]
        sharing.required, sharing.label = False, _("How members use public IPv4")
        sharing.choices = [self.FITTING, *Pool.Sharing.choices]  # type: ignore[attr-defined]  # a ChoiceField
        sizes = [("", _("as many as fit the current members")), *self.fields["block_size"].choices[1:]]  # type: ignore[attr-defined]
        self.fields["block_size"].choices = sizes  # type: ignore[attr-defined]  # a ChoiceField

    def clean_kept_first(self) -> int | None:
        """Return the number, None for the service's choice."""
        number: int | None = self.cleaned_data["kept_first"]
        return number

    def _list_superfluous(self) -> tuple[str, ...]:
        return ()


class PoolPreviewForm(forms.Form):
    """A change of a pool that is sent twice: to see what follows, then to make it."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    seen = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, pool: Pool, data: Any = None) -> None:
        super().__init__(data, initial={"version": pool.version})

    def hide(self) -> None:
        """Hide the fields, and send them as seen."""
        self.data = {**self.data.dict(), "seen": "1"}  # type: ignore[attr-defined]  # a QueryDict, from a request
        for field in self.fields.values():
            field.widget = forms.HiddenInput()


class EnlargementForm(PoolPreviewForm):
    """Enlarges a pool."""

    prefix = PrefixFormField(  # type: ignore[assignment]  # a field, which Django takes off the class
        label=_("Larger prefix"),
        max_length=50,
        help_text=_("It contains the present one, and overlaps no other pool."),
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
    )


class PoolSplitForm(PoolPreviewForm):
    """Splits a pool into parts of the same size."""

    length = forms.IntegerField(
        label=_("Prefix length of each part"), min_value=1, max_value=64, help_text=_("One more than the pool’s makes two parts.")
    )


class HolderLookupForm(forms.Form):
    """Looks up who held an address, and which of its ports, at a moment.

    is_earlier: shown once a time was entered that the clock showed twice; the later of the two is meant otherwise.
    """

    address = AddressFormField(
        label=_("Address"), max_length=50, widget=forms.TextInput(attrs={"spellcheck": "false", "placeholder": "198.51.100.7"})
    )
    port = forms.IntegerField(
        label=_("Port"), min_value=1, max_value=65535, required=False, widget=forms.NumberInput(attrs={"inputmode": "numeric"})
    )
    at = LocalTimeField(label=_("When"), required=False, has_seconds=True)
    is_earlier = forms.BooleanField(required=False)
    reason = forms.CharField(
        label=_("Reason"), max_length=200, widget=forms.TextInput(attrs={"placeholder": _("abuse report 4711"), "autocomplete": "off"})
    )

    def __init__(self, data: Any = None, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        if data is None:
            del self.fields["is_earlier"]

    def clean(self) -> dict[str, Any]:
        """Offer the earlier time, and take it if it was chosen, where the clock showed the time twice."""
        cleaned = super().clean() or self.cleaned_data
        at, is_earlier = cleaned.get("at"), cleaned.pop("is_earlier", False)
        meanings = list_meanings(timezone.make_naive(at), timezone.get_current_timezone()) if at else []
        if len(meanings) < 2:
            del self.fields["is_earlier"]
            return cleaned
        self["is_earlier"].label = _("The clock showed this time twice: look up the earlier one, %(time)s") % {
            "time": formats.format_full_time(meanings[0])
        }
        return cleaned | {"at": meanings[0]} if is_earlier else cleaned

    def get_moment(self, now: datetime) -> datetime:
        """Return the moment that was entered, or `now`."""
        at: datetime | None = self.cleaned_data["at"]
        return at or now
