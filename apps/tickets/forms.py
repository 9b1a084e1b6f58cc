"""Forms of the pages of tickets."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem
from apps.lib.ui import formats
from apps.members.models import Member
from apps.tickets.attachment_quota import AttachmentQuota
from apps.tickets.attachments import MAX_FILES_PER_MESSAGE, AttachmentFile
from apps.tickets.canned import LONGEST as LONGEST_CANNED
from apps.tickets.links import iter_link_choices
from apps.tickets.models import Canned, Ticket
from apps.tickets.selectors import list_answerers
from apps.tickets.services import LONGEST, LONGEST_SUBJECT, TicketFacts


class FilesInput(forms.ClearableFileInput):
    """File input for several files at once."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Field for files; cleans to names and octets. The services check them; one more than allowed is read, so that they notice."""

    widget = FilesInput

    def __init__(self) -> None:
        super().__init__(label=_("Files"), required=False, widget=FilesInput)

    def clean(self, data: Any, initial: Any = None) -> list[AttachmentFile]:
        given = data if isinstance(data, list | tuple) else [data] if data else []
        return [AttachmentFile(each.name or "", _read_octets(each)) for each in given[: MAX_FILES_PER_MESSAGE + 1]]


def _read_octets(upload: UploadedFile[Any]) -> bytes:
    """Return the octets, at most one more than allowed: a file that is too large is not read to its end."""
    octets: bytes = upload.read(settings.ATTACHMENT_OCTETS + 1)
    return octets


class ProblemReportingForm(forms.Form):
    """Form with a service that may raise Problem."""

    def add_problem(self, problem: Problem) -> None:
        """Add the Problem as an error of the field that it concerns."""
        place = {"files": "uploads"}.get(problem.fieldname, problem.fieldname)
        self.add_error(place if place in self.fields else None, str(problem))


class _MessageForm(ProblemReportingForm):
    text = forms.CharField(
        label=_("Message"),
        max_length=LONGEST,
        error_messages={"required": _("Write something first.")},
        widget=forms.Textarea(attrs={"rows": 8}),
    )
    uploads = FilesField()

    def __init__(self, data: Any = None, files: Any = None, **given: Any) -> None:
        super().__init__(data, files, **given)
        facts = {"most": MAX_FILES_PER_MESSAGE, "size": formats.format_volume(settings.ATTACHMENT_OCTETS)}
        self.fields["uploads"].help_text = _("Up to %(most)d, each up to %(size)s.") % facts

    def show_free_quota(self, quota: AttachmentQuota) -> None:
        """Show beside the files how much room the quota leaves."""
        facts = {
            "most": MAX_FILES_PER_MESSAGE,
            "size": formats.format_volume(settings.ATTACHMENT_OCTETS),
            "left": formats.format_volume(quota.free_octets),
        }
        words = _("Up to %(most)d, each up to %(size)s. Of %(limit)s for all of your files, %(left)s are left.")
        self.fields["uploads"].help_text = words % (facts | {"limit": formats.format_volume(quota.limit)})

    def to_kwargs(self) -> dict[str, Any]:
        """Return the keyword arguments for the services."""
        return {{"uploads": "files"}.get(name, name): value for name, value in self.cleaned_data.items()}


class WriteForm(_MessageForm):
    """Form of an answer or a note."""

    def __init__(self, data: Any = None, files: Any = None, **given: Any) -> None:
        super().__init__(data, files, **given)
        self.fields["text"].widget.attrs |= {"data-key": "r"}


class AskForm(_MessageForm):
    """Form of a member's new ticket."""

    subject = forms.CharField(
        label=_("What is it about?"), max_length=LONGEST_SUBJECT, error_messages={"required": _("Say in a few words what it is about.")}
    )
    field_order: tuple[str, ...] = ("subject", "text", "uploads")


class MemberNumberForm(ProblemReportingForm):
    """Form that chooses a member by number."""

    member = forms.CharField(label=_("Member"), max_length=20, help_text=_("The number, like M-2207"))

    def clean_member(self) -> Member:
        text = self.cleaned_data["member"].strip().upper().removeprefix("M-")
        found = Member.objects.filter(number=int(text)).first() if text.isascii() and text.isdigit() and len(text) < 10 else None
        if found is None:
            raise forms.ValidationError(_("No member has this number."))
        return found


class WriteToForm(MemberNumberForm, AskForm):
    """Form of a new ticket that staff opens for a member."""

    field_order = ("member", "subject", "text", "uploads")


class FactsForm(ProblemReportingForm):
    """State, priority, assignee and tags of a ticket. version: the one that was read, to detect concurrent changes."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    state = forms.ChoiceField(label=_("State"), choices=Ticket.State)
    priority = forms.TypedChoiceField(label=_("Priority"), choices=Ticket.Priority, coerce=int)
    assignee = forms.ChoiceField(label=_("Assignee"), required=False)
    tags = forms.CharField(label=_("Tags"), required=False, max_length=400, help_text=_("Separated by commas"))

    def __init__(self, ticket: Ticket, data: Any = None) -> None:
        given = {"version": ticket.version, "state": ticket.state, "priority": ticket.priority, "assignee": ticket.assignee_id or ""}
        super().__init__(data, initial=given | {"tags": ", ".join(ticket.tags)})
        self._people = {str(user.pk): user for user in [*list_answerers(), *([ticket.assignee] if ticket.assignee else [])]}
        choices = [("", _("nobody")), *((pk, user.name) for pk, user in self._people.items())]
        for name, key in (("state", "s"), ("assignee", "a")):
            self.fields[name].widget.attrs |= {"data-key": key, "aria-keyshortcuts": key}
        self.fields["assignee"].choices = choices  # type: ignore[attr-defined]  # of a ChoiceField

    def to_kwargs(self) -> TicketFacts:
        """Return the properties for the service."""
        given = self.cleaned_data
        return TicketFacts(given["state"], given["priority"], self._people.get(given["assignee"]), given["tags"].split(","))


class LinkForm(ProblemReportingForm):
    """Link of a ticket to a row of its member, to a gateway, or to the ban of an address."""

    what = forms.ChoiceField(label=_("Object"), required=False)
    ban = forms.CharField(label=_("or the ban of"), required=False, max_length=50, widget=forms.TextInput(attrs={"class": "nw-mono"}))

    def __init__(self, ticket: Ticket, data: Any = None) -> None:
        super().__init__(data)
        self.fields["what"].choices = [("", "–"), *iter_link_choices(ticket.member)]  # type: ignore[attr-defined]  # of a ChoiceField

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.errors and not cleaned.get("what") and not cleaned.get("ban"):
            self.add_error("what", _("Choose something, or name an address."))
        return cleaned


class CannedForm(ProblemReportingForm):
    """Form of a canned answer. version: the one that was read, to detect concurrent changes."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=_("Name"), max_length=80)
    text_de = forms.CharField(label=_("German text"), max_length=LONGEST_CANNED, widget=forms.Textarea(attrs={"rows": 8, "lang": "de"}))
    text_en = forms.CharField(label=_("English text"), max_length=LONGEST_CANNED, widget=forms.Textarea(attrs={"rows": 8, "lang": "en"}))

    def __init__(self, data: Any = None, canned: Canned | None = None) -> None:
        names = ("version", "name", "text_de", "text_en")
        super().__init__(data, initial={name: getattr(canned, name) for name in names} if canned else {})

    def to_kwargs(self) -> dict[str, str]:
        """Return the keyword arguments for the services."""
        return {name: self.cleaned_data[name] for name in ("name", "text_de", "text_en")}
