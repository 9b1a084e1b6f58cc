"""Forms of a joining machine: its name and address, and then its interfaces, which it has reported itself."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.gateways.families import FAMILIES, find_primary
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import describe_interface, suggest_for_machine
from apps.gateways.line_fields import PrefixLines
from apps.network.forms import AddressFormField
from apps.network.models import GatewayGroup
from firewall.machine import MachineFacts

_PLAIN = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}


class MachineAddressForm(forms.Form):
    """Where a machine is reached."""

    address = AddressFormField(
        label=_("Management address"), max_length=50, help_text=_("Where its sshd listens"), widget=forms.TextInput(attrs=_PLAIN)
    )
    port = forms.IntegerField(label=_("Management port"), min_value=1, max_value=65535, initial=22, help_text=_("ssh, usually 22"))


class NewJoiningMachineForm(MachineAddressForm):
    """Begins with a machine."""

    name = forms.CharField(
        label=_("Name"),
        max_length=40,
        help_text=_("Small letters, digits, hyphens, such as nat-1"),
        widget=forms.TextInput(attrs=_PLAIN),
    )
    group = forms.ModelChoiceField(GatewayGroup.objects.all(), label=_("Gateway group"), empty_label=None)

    field_order = ("name", "group", "address", "port")


class InterfacesForm(forms.Form):
    """Interfaces of a machine, chosen among those that it reports, and who may manage it."""

    lan = forms.ChoiceField(label=_("Inside interface"), help_text=_("Where the members are"))
    wan = forms.ChoiceField(label=_("Outside interface"), help_text=_("Where the internet is"))
    management = forms.ChoiceField(label=_("Management interface"), help_text=_("Where ssh comes in"))
    sync = forms.ChoiceField(label=_("State sync interface"), help_text=_("To the other gateway"), required=False)
    sync_address = AddressFormField(
        label=_("Address on the state sync interface"),
        max_length=50,
        required=False,
        help_text=_("IPv4. Empty: the one that the machine reports there"),
        widget=forms.TextInput(attrs=_PLAIN),
    )
    management_networks = PrefixLines(
        label=_("Management networks"), help_text=_("One in each line. Hosts outside these cannot reach this gateway’s ssh.")
    )
    carries4 = forms.BooleanField(label=_("Primary for IPv4"), required=False)
    carries6 = forms.BooleanField(label=_("Primary for IPv6"), required=False)

    def __init__(self, machine: JoiningMachine, facts: MachineFacts, data: Any = None) -> None:
        suggested = suggest_for_machine(machine, facts)
        initial: dict[str, Any] = {name: getattr(suggested, name) for name in ("lan", "wan", "management", "sync")}
        initial["management_networks"] = list(suggested.networks)
        super().__init__(data, initial=initial | {f"carries{each}": find_primary(machine.group, each) is None for each in FAMILIES})
        choices = [(each.name, describe_interface(each)) for each in facts.interfaces]
        for name in ("lan", "wan", "management", "sync"):
            chosen = self.fields[name]
            if isinstance(chosen, forms.ChoiceField):
                chosen.choices = [("", _("choose…") if chosen.required else _("none")), *choices]

    def to_kwargs(self) -> dict[str, Any]:
        """Return the arguments of `services.finish_joining`."""
        given = dict(self.cleaned_data)
        carries = [family for family in FAMILIES if given.pop(f"carries{family}")]
        return given | {"carries": carries}
