"""Form for a trace question. All fields are in the page's URL, so that an answer can be shared."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.desk.packet_trace.question import EPHEMERAL, InvalidQuestion, TracedPacket, TraceQuestion, find_interface, parse_endpoints
from apps.network.models import Gateway

WANTED, RUNS, AUTO = "wanted", "runs", "auto"
START = {
    "protocol": "tcp",
    "port": 443,
    "way": TracedPacket.FIRST.value,
    "interface": AUTO,
    "ruleset": WANTED,
}  # defaults
_CODE = {"class": "nw-mono", "autocomplete": "off", "spellcheck": "false"}
_WAYS = (
    (TracedPacket.FIRST, _("the first packet")),
    (TracedPacket.ANSWER, _("an answer to it")),
    (TracedPacket.NEXT, _("a further packet")),
)
SIDES = {
    "lan": _("inside"),
    "wan": _("outside"),
    "servers": _("servers"),
    "management": _("management"),
    "sync": _("state sync"),
    "probe": _("probe"),
}


class QuestionForm(forms.Form):
    """The packet, and the gateway and ruleset to trace it through."""

    gateway = forms.ModelChoiceField(Gateway.objects.select_related("group"), label=_("Gateway"), to_field_name="name", empty_label=None)
    protocol = forms.ChoiceField(label=_("Protocol"), choices=[("tcp", "TCP"), ("udp", "UDP"), ("icmp", "ICMP echo")])
    source = forms.CharField(label=_("From address or member"), max_length=80, widget=forms.TextInput(_CODE))
    source_port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65535, required=False, widget=forms.NumberInput(_CODE))
    destination = forms.CharField(label=_("To address or member"), max_length=80, widget=forms.TextInput(_CODE))
    port = forms.IntegerField(label=_("Port"), min_value=1, max_value=65535, required=False, widget=forms.NumberInput(_CODE))
    way = forms.ChoiceField(label=_("Packet"), choices=_WAYS)
    interface = forms.ChoiceField(label=_("Incoming interface"), choices=[(AUTO, _("automatic (by source)")), *SIDES.items()])
    ruleset = forms.ChoiceField(label=_("Ruleset"), choices=[(WANTED, _("desired state")), (RUNS, _("running ruleset"))])

    def clean(self) -> dict[str, Any]:
        """Resolve both ends to addresses, and check that the gateway has the interface."""
        given: dict[str, Any] = super().clean() or {}
        if {"source", "destination"} <= given.keys():
            try:
                given["ends"] = parse_endpoints(given["source"], given["destination"])
            except InvalidQuestion as problem:
                self.add_error(problem.field, str(problem))
        gateway, side = given.get("gateway"), given.get("interface", AUTO)
        if gateway and side != AUTO and not find_interface(gateway, side):
            self.add_error("interface", _("This gateway has no such interface."))
        return given

    def build_question(self) -> TraceQuestion:
        """Return the question. The form must be valid."""
        given = self.cleaned_data
        source, destination = given["ends"]
        return TraceQuestion(
            given["gateway"],
            source,
            destination,
            given["protocol"],
            given["port"] or 443,
            given["source_port"] or EPHEMERAL,
            "" if given["interface"] == AUTO else given["interface"],
            TracedPacket(given["way"]),
            runs=given["ruleset"] == RUNS,
        )
