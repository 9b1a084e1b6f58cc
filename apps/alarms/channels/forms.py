"""Form of a channel."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.alarms.channels.models import MOST_MINUTES, AlarmChannel
from apps.alarms.channels.services import ChannelFacts
from apps.alarms.duty.forms import PersonField
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form

FACTS = ("name", "only_critical", "after_minutes", "person", "quiet_from", "quiet_until", "language", "active")


class ChannelForm(forms.Form):
    """Where messages go, which ones, and when. The address is not shown again: it holds passwords."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=80)
    target = forms.CharField(
        label=_("Address"),
        max_length=1000,
        required=False,
        help_text=_("As apprise writes it: ntfy://ntfy.sh/topic, matrix://user:password@host/#room, tgram://token/chat, json://host/path."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    only_critical = forms.BooleanField(label=_("Only critical alarms"), required=False)
    after_minutes = forms.IntegerField(
        label=_("Only if nobody has seen it after … minutes"),
        min_value=0,
        max_value=MOST_MINUTES,
        help_text=_("0: at once. Otherwise this channel is told when nobody has pressed “Seen” by then."),
    )
    person = PersonField(
        label=_("Whose"),
        required=False,
        empty_label=_("everybody’s: told whoever is on duty"),
        help_text=_("A person’s channel is told first while they are on duty; else like the others, if nobody has pressed “Seen”."),
    )
    quiet_from = forms.TimeField(
        label=_("Quiet from"), required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        help_text=_("Meanwhile only critical alarms are told; what is still open at the end is told then."),
    )  # fmt: skip
    quiet_until = forms.TimeField(label=_("Quiet until"), required=False, widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"))
    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES)
    active = forms.BooleanField(label=_("Active"), required=False)

    def __init__(self, data: Any = None, row: AlarmChannel | None = None) -> None:
        initial: dict[str, Any] = {"active": True, "after_minutes": 0, "language": get_language()}
        if row:
            initial = {name: getattr(row, name) for name in ("version", *FACTS)}
        super().__init__(data, initial=initial)
        self.fields["target"].required = row is None
        if row:
            self.fields["target"].help_text = _("Now %(shown)s. Leave it empty to keep it.") % {"shown": row.shown}

    def to_facts(self) -> ChannelFacts:
        """Return the cleaned data as the services expect it."""
        return ChannelFacts(**{name: self.cleaned_data[name] for name in ("target", *FACTS)})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
