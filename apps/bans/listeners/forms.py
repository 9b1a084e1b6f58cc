"""Forms for listeners and for servers' interfaces."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.bans.listeners.models import Listener
from apps.network.models import Gateway, GatewayGroup


class ListenerForm(forms.ModelForm[Listener]):
    """A listener. The service checks whether the port is free."""

    GUARD = ("guarded", "window_scale")  # a row of their own; the other fields stand side by side

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Listener
        fields = ("group", "name", "address", "protocol", "port", "guarded", "window_scale", "enabled", "note")
        help_texts = {
            "guarded": _("Gateways answer SYNs on the server’s behalf and track its connections. TCP only."),
            "window_scale": _("For the guard: the window scale that the server itself offers; ss -ti shows it as wscale."),
        }

    def __init__(self, data: Any = None, listener: Listener | None = None) -> None:
        super().__init__(data, instance=listener)
        self.fields["window_scale"].required = False
        self.fields["version"].initial = listener.version if listener else None
        if listener:
            del self.fields["group"]
        else:
            del self.fields["enabled"]
            if GatewayGroup.objects.count() == 1:
                self.fields["group"].initial = GatewayGroup.objects.get()
                self.fields["group"].widget = forms.HiddenInput()

    def clean_window_scale(self) -> int:
        """Return the given window scale, or the saved one (7 for a new listener) if the field is empty."""
        given = self.cleaned_data["window_scale"]
        return self.instance.window_scale if given is None else int(given)

    def validate_constraints(self) -> None:
        """Skip the form's check: the service names the listener that is in the way."""


class ServerFacingInterfaceForm(forms.Form):
    """The interface of a gateway behind which servers stand."""

    gateway = forms.ModelChoiceField(Gateway.objects.all(), widget=forms.HiddenInput)
    name = forms.CharField(label=_("Interface for servers"), max_length=15, required=False)
