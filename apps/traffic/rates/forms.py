"""Forms of rate limits and uplinks."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.bans.forms import EndForm
from apps.members.forms import RateField
from apps.network.models import Uplink
from apps.network.uplink import LineFraming
from apps.traffic.rates.models import RateLimit
from firewall.shaper import RATES


class LimitForm(EndForm):
    """Rate, reason and end of a rate limit."""

    down_kbit = RateField(label=_("Download rate, Mbit/s"), help_text=_("To the member. Empty: only the tariff’s rate"))
    up_kbit = RateField(label=_("Upload rate, Mbit/s"), help_text=_("From the member. Empty: only the tariff’s rate"))
    reason = forms.ChoiceField(label=_("Reason"), choices=RateLimit.Reason)
    note = forms.CharField(label=_("Internal note"), required=False, max_length=200, help_text=_("The member does not see it."))
    field_order = ("down_kbit", "up_kbit", "reason", "note", "term", "until")

    def __init__(self, data: Any = None, *, present: RateLimit | None = None) -> None:
        initial = {"term": "1d", "reason": RateLimit.Reason.OTHER}
        if present:
            initial |= {name: getattr(present, name) for name in ("down_kbit", "up_kbit", "reason", "note")}
        super().__init__(data, initial=initial)

    def to_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments for the services."""
        return {name: self.cleaned_data[name] for name in ("down_kbit", "up_kbit", "reason", "note")} | {"until": self.compute_end()}


class UplinkForm(forms.Form):
    """Rates of a group's uplink, the switch of rate limits, and the fair queues.

    version: the one that was read, to detect concurrent changes.
    """

    version = forms.IntegerField(widget=forms.HiddenInput)
    down_kbit = RateField(label=_("Download capacity, Mbit/s"), help_text=_("From the internet. Empty: not known"), highest=None)
    up_kbit = RateField(label=_("Upload capacity, Mbit/s"), help_text=_("To the internet. Empty: not known"), highest=None)
    limits_rates = forms.BooleanField(label=_("Limit rates"), required=False, help_text=_("When off, no rate is limited here."))
    queue_down_kbit = RateField(
        label=_("Fair queue for downloads, Mbit/s"),
        help_text=_(
            "While the line is full, every member gets the same share of it, and short packets do not wait behind long downloads. "
            "Choose about 95 % of what the line really carries. Empty: off"
        ),
        lowest=RATES[0],
        highest=RATES[-1],
    )
    queue_up_kbit = RateField(
        label=_("Fair queue for uploads, Mbit/s"),
        help_text=_(
            "The same for what members send. The kernel of each gateway needs CAKE, as Debian’s has it; a gateway without it says so, "
            "and runs everything else."
        ),
        lowest=RATES[0],
        highest=RATES[-1],
    )
    framing = forms.ChoiceField(
        label=_("Framing of the line"),
        choices=LineFraming,
        help_text=_("How many octets the line adds to each packet, for the fair queues. Not known: choose a somewhat lower rate."),
    )

    def __init__(self, uplink: Uplink, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(uplink, name) for name in self.base_fields})
