"""The form of a gateway’s interfaces and management."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.lib.fields import Prefix
from apps.network.models import Gateway

INTERFACES = ("lan", "wan", "management", "sync")


class PrefixLines(forms.CharField):
    """Networks, one in each line."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "nw-mono"})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[Prefix]:
        return [self._network(line) for line in super().clean(value).replace(",", "\n").splitlines() if line.strip()]

    def _network(self, line: str) -> Prefix:
        try:
            return ip_network(line.strip())
        except ValueError as error:
            words = gettext("“%(value)s” is no network. Write it like 172.31.0.0/24 or 2001:db8:f::/64, with zeros behind the length.")
            raise forms.ValidationError(words % {"value": line.strip()[:60]}) from error


class GatewayForm(forms.Form):
    """Interfaces and management of one gateway. After a conflict it also shows what stands in the database now."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    lan = forms.CharField(label=_("Inside interface"), max_length=15, help_text=_("Where the members are"))
    wan = forms.CharField(label=_("Outside interface"), max_length=15, help_text=_("Where the internet is"))
    management = forms.CharField(label=_("Management interface"), max_length=15, help_text=_("Where ssh comes in"))
    sync = forms.CharField(label=_("State sync interface"), max_length=15, required=False, help_text=_("To the other gateway"))
    management_networks = PrefixLines(
        label=_("Management networks"), help_text=_("One in each line. Whoever is in none of them cannot reach this gateway’s ssh.")
    )
    management_port = forms.IntegerField(label=_("Management port"), min_value=1, max_value=65535, help_text=_("ssh, usually 22"))

    def __init__(self, gateway: Gateway, data: Any = None) -> None:
        names = [*INTERFACES, "management_networks", "management_port", "version"]
        super().__init__(data, initial={name: getattr(gateway, name) for name in names})
        self.gateway = gateway
        self.conflict = ""
        for name in INTERFACES:
            self.fields[name].widget.attrs |= {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}

    def take_up(self, conflict: str) -> None:
        """Keep the input, show what somebody else saved beside it, and let the next save replace that."""
        self.gateway.refresh_from_db()
        self.conflict = conflict
        self.data = {**self.data.dict(), "version": str(self.gateway.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request

    def rows(self) -> Iterator[tuple[BoundField, str]]:
        """Each visible field, and after a conflict its value in the database where that differs from the input."""
        for bound in self.visible_fields():
            now = bound.field.prepare_value(getattr(self.gateway, bound.name))
            typed = self.cleaned_data.get(bound.name) if self.conflict else getattr(self.gateway, bound.name)
            yield bound, "" if typed == getattr(self.gateway, bound.name) else str(now or gettext("nothing"))
