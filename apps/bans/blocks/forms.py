"""Forms for blocks, and for what blocked members see and reach."""

from ipaddress import ip_address
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.bans.blocks.models import LONGEST_MESSAGE, Block, Notice, Reachable
from apps.bans.forms import EndForm
from apps.lib.fields import Address


class BlockForm(EndForm):
    """Reason, texts and end of a block. `version`: the version that the page showed, for a block that exists."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    reason = forms.ChoiceField(label=_("Reason"), choices=Block.Reason)
    message = forms.CharField(
        label=_("Message to the member"), required=False, max_length=LONGEST_MESSAGE, widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Shown below the reason on the page that the member sees."),
    )  # fmt: skip
    note = forms.CharField(
        label=_("Internal note"), required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text=_("The member does not see it.")
    )
    field_order = ("reason", "message", "note", "term", "until")

    def __init__(self, data: Any = None, block: Block | None = None) -> None:
        initial: dict[str, Any] = {}
        if block:
            end = block.valid.upper
            initial = {"reason": block.reason, "message": block.message, "note": block.note, "version": block.version}
            initial |= {"term": "at" if end else "never", "until": end}
        super().__init__(data, initial=initial)

    def to_kwargs(self) -> dict[str, Any]:
        """Return the arguments for the services."""
        return {name: self.cleaned_data[name] for name in ("reason", "message", "note")} | {"until": self.compute_end()}


class NoticeForm(forms.Form):
    """Address of the notice page, and the contact. `version`: the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    ipv4 = forms.GenericIPAddressField(label=_("IPv4 address of the notice page"), protocol="IPv4", required=False)
    ipv6 = forms.GenericIPAddressField(label=_("IPv6 address of the notice page"), protocol="IPv6", required=False)
    port = forms.IntegerField(label=_("TCP port of the notice page"), min_value=1, max_value=65535)
    contact = forms.CharField(label=_("Contact"), max_length=200, required=False)

    def __init__(self, notice: Notice, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(notice, name) for name in ("version", "ipv4", "ipv6", "port", "contact")})

    def clean_ipv4(self) -> Address | None:
        return ip_address(self.cleaned_data["ipv4"]) if self.cleaned_data["ipv4"] else None

    def clean_ipv6(self) -> Address | None:
        return ip_address(self.cleaned_data["ipv6"]) if self.cleaned_data["ipv6"] else None


class ReachableForm(forms.ModelForm[Reachable]):
    """One more port that blocked members reach."""

    class Meta:
        model = Reachable
        fields = ("name", "address", "protocol", "port")
