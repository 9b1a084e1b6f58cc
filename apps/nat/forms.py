"""Forms of port forwards."""

from ipaddress import IPv4Address
from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.lib.database.validity import is_valid_now
from apps.lib.port_ranges import PortRangeFormField, format_port_range, format_typed_span
from apps.lib.ui.row_choice_field import CachedModelChoiceField
from apps.members.models import Member
from apps.nat.last_day_field import LastDayForm, build_last_day_initial
from apps.nat.models import PortForward
from apps.nat.selectors import list_member_public_addresses
from apps.network.models import Holding, Pool
from apps.network.selectors import list_cached_holdings


class PrivateAddressChoice(CachedModelChoiceField[Holding]):
    """Choice of a private address, shown with its device."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.device}, {obj.address}" if obj.device else str(obj.address)


class ForwardForm(LastDayForm):
    """Adds a port forward of one member, or changes `forward`; then `version` is the row's when the form was shown."""

    protocol = forms.ChoiceField(label=_("Protocol"), choices=PortForward.Protocol)
    public_port = PortRangeFormField(label=_("Public port"), help_text=_("8443, or 6000-6009"))
    holding = PrivateAddressChoice(label=_("To device"), queryset=Holding.objects.none(), empty_label=None)
    private_port = PortRangeFormField(
        label=_("Device port"), required=False, help_text=_("the first one of a range; empty: same as outside")
    )
    public = forms.ChoiceField(label=_("Public address"))
    purpose = forms.CharField(label=_("What for"), max_length=80, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    field_order = ("protocol", "public_port", "holding", "private_port", "public", "purpose", "until")
    offer = ""  # a value that is possible, if the given one is not

    def __init__(self, member: Member, data: Any = None, forward: PortForward | None = None) -> None:
        super().__init__(data, prefix="forward", initial=_build_initial(forward) if forward else None)
        if not forward:
            del self.fields["version"]
        held = Holding.objects.filter(is_valid_now(), member=member, kind=Pool.Kind.PRIVATE4).select_related("device")
        addresses = sorted({*list_member_public_addresses(member), *([str(forward.public)] if forward else [])})
        holding = cast("PrivateAddressChoice", self.fields["holding"])
        holding.queryset = held
        holding.rows = [each for each in list_cached_holdings(member) if each.kind == Pool.Kind.PRIVATE4]
        self.fields["public"] = forms.ChoiceField(label=_("Public address"), choices=[(each, each) for each in addresses])
        if len(addresses) == 1:
            self.fields["public"].widget = forms.HiddenInput()
            self.fields["public"].initial = addresses[0]
        for name in ("public_port", "private_port"):
            self.fields[name].widget.attrs |= {"autocomplete": "off"}

    def clean(self) -> dict[str, Any]:
        """Check that both ranges have the same length, or that only the first private port is given."""
        cleaned = super().clean() or {}
        public, private = cleaned.get("public_port"), cleaned.get("private_port")
        if public and private and private[1] not in (1, public[1]):
            facts = {"private": private[1], "public": public[1]}
            self.add_error(
                "private_port", _("%(public)d public ports do not fit %(private)d private ones. Enter only the first private port.") % facts
            )
        return cleaned

    def format_offered_ports(self, first: str) -> str:
        """Return an offer as it is written in the field: as many ports as were wanted, from this one on."""
        return format_port_range(int(first), self.cleaned_data["public_port"][1]) if first.isdecimal() else first

    def to_kwargs(self) -> dict[str, Any]:
        """Return the service's arguments, except `until`, which `ends` and `changed_end` return."""
        cleaned = self.cleaned_data
        public_port, ports = cleaned["public_port"]
        private_port, _ports = cleaned["private_port"] or (public_port, ports)
        given = {"public": IPv4Address(cleaned["public"]), "public_port": public_port, "private_port": private_port, "ports": ports}
        return {name: value for name, value in cleaned.items() if name not in ("version", "until")} | given


def _build_initial(forward: PortForward) -> dict[str, Any]:
    return {
        "protocol": forward.protocol,
        "public_port": format_typed_span(forward.public_port, forward.ports),
        "holding": forward.holding_id,
        "private_port": format_typed_span(forward.private_port, forward.ports),
        "public": str(forward.public),
        "purpose": forward.purpose,
        "version": forward.version,
    } | build_last_day_initial(forward)
