"""Form for a live trace."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.desk.live_trace.live_trace_session import USUAL_PACKETS, USUAL_SECONDS, LiveTraceRequest, build_watch
from apps.desk.packet_trace.form import AUTO, SIDES
from apps.desk.packet_trace.question import InvalidQuestion
from apps.network.models import Gateway
from firewall.live_trace import PACKETS, SECONDS

START = {"seconds": USUAL_SECONDS, "most": USUAL_PACKETS, "interface": AUTO}
_CODE = {"class": "nw-mono", "autocomplete": "off", "spellcheck": "false"}


class LiveTraceForm(forms.Form):
    """The packets to watch, the gateway, and the duration."""

    gateway = forms.ModelChoiceField(Gateway.objects.select_related("group"), label=_("Gateway"), to_field_name="name", empty_label=None)
    protocol = forms.ChoiceField(
        label=_("Protocol"), choices=[("", _("any")), ("tcp", "TCP"), ("udp", "UDP"), ("icmp", "ICMP")], required=False
    )
    source = forms.CharField(label=_("From address, prefix or member"), max_length=80, widget=forms.TextInput(_CODE), required=False)
    destination = forms.CharField(label=_("To address, prefix or member"), max_length=80, widget=forms.TextInput(_CODE), required=False)
    port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65535, required=False, widget=forms.NumberInput(_CODE))
    interface = forms.ChoiceField(label=_("Incoming interface"), choices=[(AUTO, _("anywhere")), *SIDES.items()])
    seconds = forms.IntegerField(label=_("Seconds"), min_value=SECONDS[0], max_value=SECONDS[-1], widget=forms.NumberInput(_CODE))
    most = forms.IntegerField(label=_("Packets, at most"), min_value=PACKETS[0], max_value=PACKETS[-1], widget=forms.NumberInput(_CODE))

    def clean(self) -> dict[str, Any]:
        """Check that there is at least one end, and that both are of the same IP version."""
        given: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                build_watch(self.build_request())
            except InvalidQuestion as problem:
                self.add_error(problem.field, str(problem))
        return given

    def build_request(self) -> LiveTraceRequest:
        """Return the request. Every field must be valid."""
        given = dict(self.cleaned_data)
        return LiveTraceRequest(
            **given | {"port": given["port"] or 0, "interface": "" if given["interface"] == AUTO else given["interface"]}
        )
