"""Forms of IPv6 pinholes."""

from ipaddress import IPv6Address, IPv6Network
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import AddressField
from apps.lib.port_ranges import PortRangeFormField, format_typed_span
from apps.members.models import Member
from apps.nat.last_day_field import LastDayForm, build_last_day_initial
from apps.nat.pinholes.models import ALL_PORTS, Pinhole
from apps.nat.pinholes.selectors import list_member_prefixes
from apps.network.models import Holding


class PinholeForm(LastDayForm):
    """Adds a pinhole of one member, or changes `pinhole`; then `version` is the row's when the form was shown."""

    protocol = forms.ChoiceField(label=_("Protocol"), choices=Pinhole.Protocol)
    port = PortRangeFormField(label=_("Port"), required=False, help_text=_("443, or 6000-6009; empty for all"))
    address = forms.CharField(label=_("Address"), max_length=45, help_text=_("whole, or only its end within the prefix, such as ::10"))
    purpose = forms.CharField(label=_("What for"), max_length=80, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    field_order = ("protocol", "port", "address", "purpose", "until")
    NO_ADDRESS = _("This is not an IPv6 address. Write it like 2001:db8::10, or only its end: ::10.")
    offer = ""

    def __init__(self, member: Member, data: Any = None, pinhole: Pinhole | None = None) -> None:
        super().__init__(data, prefix="pinhole", initial=_build_initial(pinhole) if pinhole else None)
        self.prefixes = [pinhole.holding] if pinhole else list_member_prefixes(member)
        if not pinhole:
            del self.fields["version"]
        for name in ("port", "address"):
            self.fields[name].widget.attrs |= {"autocomplete": "off"}
        if self.prefixes:
            self.fields["address"].widget.attrs["placeholder"] = str(self.prefixes[-1].prefix.network_address)

    def clean_address(self) -> IPv6Address:
        """Return the address; an interface id alone is completed with the member's newest prefix."""
        try:
            address = AddressField().parse(self.cleaned_data["address"].strip())
        except ValueError as error:
            raise forms.ValidationError(self.NO_ADDRESS) from error
        if not isinstance(address, IPv6Address):
            raise forms.ValidationError(self.NO_ADDRESS)
        if not self.prefixes:
            raise forms.ValidationError(_("This member holds no IPv6 prefix."))
        whole: IPv6Network = self.prefixes[-1].prefix
        return whole.network_address + int(address) if int(address) < whole.num_addresses else address

    def find_holding(self) -> Holding:
        """Return the prefix that contains the address, or the newest one, which the service then refuses."""
        address = self.cleaned_data["address"]
        return next((each for each in self.prefixes if address in each.prefix), self.prefixes[-1])

    def to_kwargs(self) -> dict[str, Any]:
        """Return the services' arguments, except `until`, which `ends` and `changed_end` return."""
        cleaned = self.cleaned_data
        port, ports = cleaned["port"] or (0, ALL_PORTS)
        return {"protocol": cleaned["protocol"], "port": port, "ports": ports, "address": cleaned["address"], "purpose": cleaned["purpose"]}


class OwnPinholeForm(PinholeForm):
    """Opens a pinhole for members themselves: named ports only."""

    protocol = forms.ChoiceField(label=_("Protocol"), choices=Pinhole.Protocol.choices[:2])
    port = PortRangeFormField(
        label=_("Port"),
        help_text=_("8443, or 6000-6009"),
        error_messages={"required": _("Only the administrators can open all ports at once. Name the ports, with TCP or UDP.")},
    )


def _build_initial(pinhole: Pinhole) -> dict[str, Any]:
    return {
        "protocol": pinhole.protocol,
        "port": format_typed_span(pinhole.port, pinhole.ports) if pinhole.port else "",
        "address": str(pinhole.address),
        "purpose": pinhole.purpose,
        "version": pinhole.version,
    } | build_last_day_initial(pinhole)


class RenumberForm(forms.Form):
    """Asks whether pinholes follow when a prefix changes."""

    follow = forms.BooleanField(label=_("Move pinholes to the new prefix"), required=False, initial=True)
