"""Forms that rename a gateway, replace its machine and retire it."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.gateways.retirement import RetirementPlan
from apps.lib.fields import Address
from apps.network.forms import AddressFormField
from apps.network.models import Gateway

PLAIN = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}


class RenamingForm(forms.Form):
    """Renames a gateway."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    name = forms.CharField(
        label=_("Name"), max_length=40, help_text=_("Small letters, digits, hyphens"), widget=forms.TextInput(attrs=PLAIN)
    )

    def __init__(self, gateway: Gateway, data: Any = None) -> None:
        super().__init__(data, initial={"name": gateway.name, "version": gateway.version})


class ReplacementForm(forms.Form):
    """Says where the new machine of a gateway is; sent a second time, with the host key that was compared."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    compared = forms.BooleanField(required=False, widget=forms.HiddenInput)
    address = AddressFormField(
        label=_("Management address"),
        max_length=50,
        help_text=_("Where the new machine’s sshd listens; usually the old machine’s address"),
        widget=forms.TextInput(attrs=PLAIN),
    )
    port = forms.IntegerField(label=_("Management port"), min_value=1, max_value=65535, help_text=_("ssh, usually 22"))
    host_key = forms.CharField(
        label=_("Host key"),
        max_length=400,
        required=False,
        help_text=_("Empty: the portal asks the machine for it, and shows its fingerprint for you to compare."),
        widget=forms.TextInput(attrs=PLAIN | {"placeholder": "ssh-ed25519 AAAA…"}),
    )

    def __init__(self, gateway: Gateway, data: Any = None) -> None:
        initial = {"version": gateway.version, "address": gateway.address, "port": gateway.management_port}
        super().__init__(data, initial=initial)
        self._gateway = gateway

    def get_ssh_endpoint(self) -> tuple[Address, int]:
        """Return the address and port that were entered."""
        return self.cleaned_data["address"], self.cleaned_data["port"]

    def build_confirmation_form(self, host_key: str) -> "ReplacementForm":
        """Return the form that a person sends after comparing the key; its fields are hidden."""
        again = ReplacementForm(self._gateway)
        given = {name: self.cleaned_data[name] for name in ("version", "address", "port")}
        again.initial = given | {"host_key": host_key, "compared": True}
        for field in again.fields.values():
            field.widget = forms.HiddenInput()
        return again

    def to_kwargs(self) -> dict[str, Any]:
        """Return the arguments of `replacement.replace_machine`."""
        return {name: self.cleaned_data[name] for name in ("version", "host_key", "address", "port")}


class RetirementForm(forms.Form):
    """Retires a gateway. Which gateway takes its families over is asked only if there are several."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    successor = forms.ModelChoiceField(Gateway.objects.none(), label=_("Primary from then on"), required=False, empty_label=None)

    def __init__(self, gateway: Gateway, plan: RetirementPlan, data: Any = None) -> None:
        super().__init__(data, initial={"version": gateway.version, "successor": plan.others[0] if plan.others else None})
        if plan.families and len(plan.others) > 1:
            self.fields["successor"].queryset = gateway.group.gateways.exclude(pk=gateway.pk)  # type: ignore[attr-defined]
        else:
            del self.fields["successor"]
