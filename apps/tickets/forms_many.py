"""Forms for answering and changing many tickets at once, and for splitting a ticket."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.tickets.bulk import TicketChanges
from apps.tickets.canned import LONGEST
from apps.tickets.forms import ProblemReportingForm
from apps.tickets.models import Ticket
from apps.tickets.selectors import list_answerers
from apps.tickets.services import LONGEST_SUBJECT


class AnswerManyForm(ProblemReportingForm):
    """One answer to many tickets, in one language or both. key: distinguishes a second click from a second answer."""

    key = forms.UUIDField(widget=forms.HiddenInput)
    text_de = forms.CharField(
        label=_("German text"), required=False, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 7, "lang": "de"})
    )
    text_en = forms.CharField(
        label=_("English text"), required=False, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 7, "lang": "en"}),
        help_text=_("If this text is empty, the text in the other language is sent."),
    )  # fmt: skip
    state = forms.ChoiceField(
        label=_("State afterwards"), choices=[("waiting", _("waiting for a reply")), ("solved", _("solved"))], initial="waiting"
    )

    def get_texts(self) -> dict[str, str]:
        """Return the texts by language."""
        return {language: self.cleaned_data[f"text_{language}"] for language in ("de", "en")}

    def to_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments for the service."""
        given = self.cleaned_data
        return {"key": given["key"], "text_de": given["text_de"], "text_en": given["text_en"], "solved": given["state"] == "solved"}


class ChangeManyForm(ProblemReportingForm):
    """Changes of many tickets; empty fields change nothing."""

    state = forms.ChoiceField(label=_("State"), required=False, choices=[("", _("unchanged")), *Ticket.State.choices])
    priority = forms.TypedChoiceField(
        label=_("Priority"), required=False, coerce=int, empty_value=None, choices=[("", _("unchanged")), *Ticket.Priority.choices]
    )
    assignee = forms.ChoiceField(label=_("Assignee"), required=False)
    add = forms.CharField(label=_("Add tags"), required=False, max_length=400, help_text=_("Separated by commas"))
    drop = forms.CharField(label=_("Remove tags"), required=False, max_length=400, help_text=_("Separated by commas"))

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self._people = {str(user.pk): user for user in list_answerers()}
        choices = [("", _("unchanged")), ("nobody", _("nobody")), *((pk, user.name) for pk, user in self._people.items())]
        self.fields["assignee"].choices = choices  # type: ignore[attr-defined]  # of a ChoiceField

    def to_changes(self) -> TicketChanges:
        """Return the changes for the service."""
        given = self.cleaned_data
        assignee = (self._people.get(given["assignee"]),) if given["assignee"] else None
        return TicketChanges(given["state"] or None, given["priority"], assignee, given["add"].split(","), given["drop"].split(","))


class SplitForm(ProblemReportingForm):
    """Messages that become a ticket of their own, with its subject and member."""

    messages = forms.TypedMultipleChoiceField(
        label=_("Messages"),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose messages of this ticket.")},
    )
    subject = forms.CharField(
        label=_("What is it about?"), max_length=LONGEST_SUBJECT, error_messages={"required": _("Say in a few words what it is about.")}
    )
    whose = forms.ChoiceField(label=_("Assignment"), widget=forms.RadioSelect, initial="same")

    def __init__(self, ticket: Ticket, messages: list[tuple[int, str]], data: Any = None) -> None:
        super().__init__(data)
        self.fields["messages"].choices = messages  # type: ignore[attr-defined]  # of a ChoiceField
        nobody = _("unknown sender")
        same = (("same", str(ticket.member)), ("nobody", nobody)) if ticket.member else (("same", nobody),)
        self.fields["whose"].choices = same  # type: ignore[attr-defined]  # of a ChoiceField

    def to_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments for the service."""
        given = self.cleaned_data
        return {"messages": given["messages"], "subject": given["subject"], "same_member": given["whose"] == "same"}
