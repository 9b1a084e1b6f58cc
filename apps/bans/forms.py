"""Forms for ban lists, bans, imports and feeds. The services check which prefixes can be banned."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.feed_parser import LONGEST_COMMENT, FeedLimits
from apps.bans.models import AllowEntry, Ban, BanFeed, BanList, Direction
from apps.lib.database.validity import check_not_too_far_ahead
from apps.lib.errors import Problem
from apps.lib.ui.local_time_field import LocalTimeField

TERMS = {"1h": timedelta(hours=1), "1d": timedelta(days=1), "7d": timedelta(days=7), "30d": timedelta(days=30)}
TERM_CHOICES = [
    ("never", gettext_lazy("never")),
    ("1h", gettext_lazy("in 1 hour")),
    ("1d", gettext_lazy("in 1 day")),
    ("7d", gettext_lazy("in 1 week")),
    ("30d", gettext_lazy("in 30 days")),
    ("at", gettext_lazy("at a certain time")),
]
DIRECTIONS = [
    (Direction.BOTH, gettext_lazy("both ways")),
    (Direction.IN, gettext_lazy("connections from there")),
    (Direction.OUT, gettext_lazy("connections to there")),
]


class EndForm(forms.Form):
    """The end of bans: never, after a while, or at a time.

    The initial `until` is the present end of what is changed, with the initial `term` "at".
    """

    offer = ""  # an alternative to a value that was refused
    term = forms.ChoiceField(label=gettext_lazy("Ends"), choices=TERM_CHOICES, initial="never")
    until = LocalTimeField(label=gettext_lazy("or at"), required=False, is_end=True)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("term") == "at" and "until" in cleaned and cleaned["until"] is None:
            self.add_error("until", _("Enter a time, or choose an end from the list."))
        try:
            check_not_too_far_ahead(cleaned.get("until"), "until")
        except Problem as problem:
            self.add_error("until", str(problem))
        return cleaned

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns, and offer the alternative."""
        place = {"expires": "until", "prefix": "address"}.get(problem.fieldname, problem.fieldname)
        self.add_error(place if place in self.fields else None, str(problem))
        self.offer = problem.offer

    def compute_end(self) -> datetime | None:
        """Return the end, or None for never.

        Browsers send the choice and the time, whichever of them was changed. If the choice is “at a certain time”, the time counts. If
        another choice was made, it counts, whether the time was changed, cleared or left as the page had filled it in. If the choice is
        the one that the page offered, a time that was entered counts, or else that choice. So an end that nobody touched stays the same
        to the microsecond. A new ban has no end yet: its page offers the first choice and no time.
        """
        if self._does_time_count():
            until: datetime | None = self.cleaned_data["until"]
            return until
        term = TERMS.get(self.cleaned_data["term"])
        return timezone.now() + term if term else None

    def keep_input(self, version: int) -> None:
        """Keep the input after a conflict, for the next save, which replaces what another user saved up to this version.

        The page then shows only the end that counts: beside what the other user saved, it would no longer be clear which one was changed.
        """
        shown = {"term": "at"} if self._does_time_count() else {"until": ""}
        self.data = {**self.data.dict(), **shown, "version": str(version)}  # type: ignore[attr-defined]  # a QueryDict, from a request

    def _does_time_count(self) -> bool:
        """True if the time is the end, false if the choice is."""
        term: str = self.cleaned_data["term"]
        until: datetime | None = self.cleaned_data["until"]
        return term == "at" or (term == self["term"].initial and until != self.initial.get("until"))


class DirectionField(forms.ChoiceField):
    """The direction of a ban. Without a value it is both, because scripts and old links do not send it."""

    def __init__(self, *, help_text: Any = "") -> None:
        super().__init__(label=gettext_lazy("Direction"), choices=DIRECTIONS, initial=Direction.BOTH, help_text=help_text)

    def clean(self, value: Any) -> Any:
        return super().clean(value or Direction.BOTH)


class DirectionForm(forms.Form):
    """The direction of several bans."""

    direction = DirectionField()


class AllowForm(EndForm):
    """A new allow entry."""

    address = forms.CharField(label=gettext_lazy("Address or prefix"), max_length=80)
    comment = forms.CharField(label=gettext_lazy("Comment"), max_length=LONGEST_COMMENT, required=False)
    field_order = ("address", "comment", "term", "until")

    def __init__(self, data: Any = None, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        plain = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}
        self.fields["address"].widget.attrs |= {**plain, "placeholder": "203.0.113.66"}


class AllowChangeForm(EndForm):
    """The comment and the end of an allow entry. `version`: the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    comment = forms.CharField(label=gettext_lazy("Comment"), max_length=LONGEST_COMMENT, required=False)
    field_order = ("comment", "term", "until")

    def __init__(self, entry: AllowEntry, data: Any = None) -> None:
        term = "at" if entry.expires else "never"
        super().__init__(data, initial={"comment": entry.comment, "term": term, "until": entry.expires, "version": entry.version})
        self.conflict = ""

    def show_conflict(self, conflict: str, now: AllowEntry) -> None:
        """Keep the input after a conflict; the next save replaces what another user saved."""
        self.conflict = conflict
        self.keep_input(now.version)


class BanForm(EndForm):
    """A new ban."""

    address = forms.CharField(label=gettext_lazy("Address or prefix"), max_length=80)
    comment = forms.CharField(label=gettext_lazy("Comment"), max_length=LONGEST_COMMENT, required=False)
    direction = DirectionField()
    field_order = ("address", "comment", "direction", "term", "until")

    def __init__(self, data: Any = None, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial)
        plain = {"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}
        self.fields["address"].widget.attrs |= {**plain, "placeholder": "203.0.113.66"}


class BanChangeForm(EndForm):
    """The comment, the direction and the end of a ban. `version`: the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    comment = forms.CharField(label=gettext_lazy("Comment"), max_length=LONGEST_COMMENT, required=False)
    direction = DirectionField()
    field_order = ("comment", "direction", "term", "until")

    def __init__(self, ban: Ban, data: Any = None) -> None:
        saved = {"comment": ban.comment, "direction": ban.direction, "until": ban.expires, "version": ban.version}
        super().__init__(data, initial={**saved, "term": "at" if ban.expires else "never"})
        self.ban = ban
        self.conflict = self.their_direction = ""
        self.is_their_end_other = False

    def show_conflict(self, conflict: str, now: Ban) -> None:
        """Keep the input after a conflict, beside what another user saved; the next save replaces that."""
        self.ban, self.conflict = now, conflict
        if now.direction != self.cleaned_data["direction"]:
            self.their_direction = str(dict(DIRECTIONS)[Direction(now.direction)])
        self.is_their_end_other = now.expires != self.compute_end()
        self.keep_input(now.version)


class BanListForm(forms.Form):
    """The name and description of a list."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=60)
    description = forms.CharField(label=gettext_lazy("Description"), max_length=200, required=False)


class BanListChangeForm(BanListForm):
    """The name and description of a list that exists. `version`: the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, banlist: BanList, data: Any = None) -> None:
        super().__init__(data, initial={"name": banlist.name, "description": banlist.description, "version": banlist.version})
        self.conflict = ""

    def show_conflict(self, conflict: str, now: BanList) -> None:
        """Keep the input after a conflict; the next save replaces what another user saved."""
        self.conflict = conflict
        self.data = {**self.data.dict(), "version": str(now.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request


class ImportForm(EndForm):
    """A file to import, with its options."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy("One address, prefix or range a-b in each line, a comment after #; or CSV or JSON, as the export has it."),
    )
    keep = forms.BooleanField(
        label=gettext_lazy("Only add"),
        required=False,
        help_text=gettext_lazy("Bans that are not in the file stay. Otherwise they are lifted."),
    )
    minimum_count = forms.IntegerField(
        label=gettext_lazy("Minimum count"), required=False, min_value=0, max_value=1_000_000_000,
        help_text=gettext_lazy("For feeds with a count after each address: addresses with a lower count are left out."),
    )  # fmt: skip
    comment = forms.CharField(label=gettext_lazy("Comment for entries without one"), max_length=LONGEST_COMMENT, required=False)
    direction = DirectionField(
        help_text=gettext_lazy(
            "For new bans; what the file itself says about an entry takes precedence. Bans that stay keep their direction."
        )
    )
    field_order = ("file", "keep", "comment", "direction", "term", "until", "minimum_count")

    def clean_file(self) -> UploadedFile[Any]:
        file: UploadedFile[Any] = self.cleaned_data["file"]
        most = FeedLimits().octets
        if (file.size or 0) > most:
            raise forms.ValidationError(_("The file is too large: at most %(n)d MiB are allowed.") % {"n": most >> 20})
        return file


INTERVALS = [
    (60, gettext_lazy("every hour")),
    (360, gettext_lazy("every 6 hours")),
    (720, gettext_lazy("every 12 hours")),
    (1440, gettext_lazy("every day")),
    (10080, gettext_lazy("every week")),
]


class FeedForm(forms.Form):
    """Source and options of a list's feed. `version`: the version that the page showed, 0 for a new feed."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    source = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=1000,
        help_text=gettext_lazy("https://…, or the name of a file in the directory that the portal’s settings allow"),
    )
    interval = forms.TypedChoiceField(label=gettext_lazy("Refresh interval"), coerce=int, choices=INTERVALS, initial=1440)
    direction = DirectionField()
    comment = forms.CharField(label=gettext_lazy("Comment for entries without one"), max_length=LONGEST_COMMENT, required=False)
    minimum_count = forms.IntegerField(
        label=gettext_lazy("Minimum count"), min_value=0, max_value=1_000_000_000, initial=0,
        help_text=gettext_lazy("For feeds with a count after each address: addresses with a lower count are left out."),
    )  # fmt: skip
    shrink_limit = forms.IntegerField(
        label=gettext_lazy("Bans lifted, at most, in percent"), min_value=0, max_value=100, initial=30,
        help_text=gettext_lazy("A feed that suddenly lists far fewer bans is held back until an administrator agrees."),
    )  # fmt: skip
    enabled = forms.BooleanField(label=gettext_lazy("Refresh automatically"), required=False, initial=True)

    def __init__(self, feed: BanFeed | None, data: Any = None) -> None:
        names = [name for name in self.base_fields if feed]
        super().__init__(data, initial={name: getattr(feed, name) for name in names} if feed else {"version": 0})
        self.fields["source"].widget.attrs |= {"autocapitalize": "off", "spellcheck": "false", "class": "nw-mono"}
        if feed and feed.interval not in dict(INTERVALS):
            odd = (feed.interval, _("every %(n)d minutes") % {"n": feed.interval})
            self.fields["interval"].choices = [odd, *INTERVALS]  # type: ignore[attr-defined]  # a choice field
