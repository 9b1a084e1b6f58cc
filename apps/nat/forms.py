"""Forms of port forwards."""

from ipaddress import IPv4Address
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat.models import PortForward
from apps.nat.selectors import public_addresses_of
from apps.network.models import Holding, Pool


class DeviceChoice(forms.ModelChoiceField[Holding]):
    """A private address by the device that has it."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.device}, {obj.address}" if obj.device else str(obj.address)


class ForwardForm(forms.Form):
    """A new port forward of one member."""

    protocol = forms.ChoiceField(label=_("Protocol"), choices=PortForward.Protocol)
    public_port = forms.IntegerField(label=_("Public port"), min_value=1, max_value=65535)
    holding = DeviceChoice(label=_("To device"), queryset=Holding.objects.none(), empty_label=None)
    private_port = forms.IntegerField(label=_("Its port"), min_value=1, max_value=65535)
    public = forms.ChoiceField(label=_("Public address"))
    purpose = forms.CharField(label=_("What for"), max_length=80, required=False)

    offer = ""  # a value that would do where the given one does not

    def __init__(self, member: Member, data: Any = None) -> None:
        super().__init__(data, prefix="forward")
        held = Holding.objects.filter(holds_now(), member=member, kind=Pool.Kind.PRIVATE4).select_related("device")
        addresses = public_addresses_of(member)
        self.fields["holding"].queryset = held  # type: ignore[attr-defined]  # a ModelChoiceField
        self.fields["public"] = forms.ChoiceField(label=_("Public address"), choices=[(each, each) for each in addresses])
        if len(addresses) == 1:
            self.fields["public"].widget = forms.HiddenInput()
            self.fields["public"].initial = addresses[0]
        for name in ("public_port", "private_port"):
            self.fields[name].widget.attrs |= {"inputmode": "numeric", "autocomplete": "off"}

    def wanted(self) -> dict[str, Any]:
        """What the service takes."""
        cleaned = self.cleaned_data
        return {**cleaned, "public": IPv4Address(cleaned["public"])}
