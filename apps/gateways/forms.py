"""The form of a gateway’s interfaces and management."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.gateways.groups import CONFIRM_WITHIN, SHARE
from apps.lib.fields import Prefix
from apps.network.models import Gateway, GatewayGroup

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


class VersionedForm(forms.Form):
    """A form of one row. After a conflict it also shows what stands in the database now."""

    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, row: Any, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(row, name) for name in self.base_fields})
        self.row = row
        self.conflict = ""

    def take_up(self, conflict: str) -> None:
        """Keep the input, show what somebody else saved beside it, and let the next save replace that."""
        self.row.refresh_from_db()
        self.conflict = conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request

    def rows(self) -> Iterator[tuple[BoundField, str]]:
        """Each visible field, and after a conflict its value in the database where that differs from the input."""
        for bound in self.visible_fields():
            saved = getattr(self.row, bound.name)
            typed = self.cleaned_data.get(bound.name) if self.conflict else saved
            yield bound, "" if typed == saved else self.as_text(bound.field.prepare_value(saved))

    def as_text(self, value: Any) -> str:
        """A value as people read it."""
        return {True: gettext("yes"), False: gettext("no")}[value] if isinstance(value, bool) else str(value or gettext("nothing"))


class GatewayForm(VersionedForm):
    """Interfaces and management of one gateway."""

    lan = forms.CharField(label=_("Inside interface"), max_length=15, help_text=_("Where the members are"))
    wan = forms.CharField(label=_("Outside interface"), max_length=15, help_text=_("Where the internet is"))
    management = forms.CharField(label=_("Management interface"), max_length=15, help_text=_("Where ssh comes in"))
    sync = forms.CharField(label=_("State sync interface"), max_length=15, required=False, help_text=_("To the other gateway"))
    management_networks = PrefixLines(
        label=_("Management networks"), help_text=_("One in each line. Whoever is in none of them cannot reach this gateway’s ssh.")
    )
    management_port = forms.IntegerField(label=_("Management port"), min_value=1, max_value=65535, help_text=_("ssh, usually 22"))

    def __init__(self, gateway: Gateway, data: Any = None) -> None:
        super().__init__(gateway, data)
        for name in INTERFACES:
            self.fields[name].widget.attrs |= {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}


class GroupForm(VersionedForm):
    """How the rollouts of a group go."""

    goes_on = forms.BooleanField(
        label=_("Go on without a gateway that does not answer"),
        required=False,
        help_text=_("It gets what it misses as soon as it answers. Off: nobody gets a change that one of them cannot get."),
    )
    heals_drift = forms.BooleanField(
        label=_("Put right what was changed by hand on a gateway"),
        required=False,
        help_text=_("Off: it is shown, and waits for somebody."),
    )
    confirm_within = forms.IntegerField(
        label=_("Seconds until a gateway takes back what nobody confirmed"),
        min_value=CONFIRM_WITHIN.start,
        max_value=CONFIRM_WITHIN[-1],
        help_text=_("The gateway counts them itself; it needs nobody for going back."),
    )
    removal_share = forms.IntegerField(
        label=_("Removals wait for a second person above this share, in percent"),
        min_value=SHARE.start,
        max_value=SHARE[-1],
        help_text=_("Of a kind: addresses, IPv6 prefixes, NAT mappings, forwarded ports, IPv6 pinholes, bans"),
    )
    removal_least = forms.IntegerField(label=_("And only if they are at least this many"), min_value=1, max_value=2**31 - 1)

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        super().__init__(group, data)
