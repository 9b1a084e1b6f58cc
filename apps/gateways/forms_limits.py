"""Form of a group's connection limits."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.gateways import group_settings
from apps.gateways.forms import VersionedForm, build_number_field
from apps.gateways.line_fields import PrefixLines
from apps.network.models import GatewayGroup
from firewall.limit_sets import MOST_BURST, MOST_OPEN, MOST_RATE

COUNTING = (
    (True, _("One of 16: quick; a limit holds within about a quarter")),
    (False, _("Each: exact; costs more with many open connections")),
)


class LimitsForm(VersionedForm):
    """Connection limits of a group's gateways."""

    member_rate = build_number_field(
        _("New connections of a member per second"), MOST_RATE, help_text=_("0: no limit. Browsers open some dozens at once.")
    )
    member_burst = build_number_field(_("Burst"), MOST_BURST, 1)
    member_open = build_number_field(
        _("Open connections of a member"), MOST_OPEN, help_text=_("0: no limit. File sharing opens some thousands.")
    )
    source_rate = build_number_field(
        _("New connections of an external address per second"),
        MOST_RATE,
        help_text=_("To what members offer to the internet. 0: no limit."),
    )
    source_burst = build_number_field(_("Burst"), MOST_BURST, 1)
    source_open = build_number_field(_("Open connections of an external address"), MOST_OPEN, help_text=_("0: no limit."))
    open_sampled = forms.TypedChoiceField(
        label=_("Count open connections"),
        choices=COUNTING,
        coerce=lambda chosen: chosen == str(True),
        widget=forms.RadioSelect,
        help_text=_(
            "For both limits of open connections. By one of 16, a member whose limit is 2,000 is stopped at about 1,500 to 2,500. Limits "
            "below 1,000 are exact either way. One of 16 needs this release’s agent on each gateway of the group."
        ),
    )
    mail_rate = build_number_field(
        _("Connections of a member to mail servers per minute"),
        MOST_RATE,
        help_text=_("TCP port 25, where spam leaves; sending by a mail program uses other ports. 0: no limit."),
    )
    refuses = forms.BooleanField(
        label=_("Refuse excess connections instead of dropping them silently"),
        required=False,
        help_text=_("A refused program gives up at once, a dropped one waits and tries again."),
    )
    exempt = PrefixLines(
        label=_("Exempt networks"),
        required=False,
        help_text=_("Networks of members or external networks, one in each line: a mail server, a monitoring host."),
    )

    def __init__(self, group: GatewayGroup, data: Any = None) -> None:
        self.group = group
        super().__init__(group_settings.get_limits(group), data)

    def take_up(self, conflict: str) -> None:
        """Like `VersionedForm.take_up`, for a row that may have been created meanwhile."""
        self.row, self.conflict = group_settings.get_limits(self.group), conflict
        self.data = {**self.data.dict(), "version": str(self.row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request
