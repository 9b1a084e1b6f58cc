"""Form of an announcement."""

from datetime import timedelta
from typing import Any, Final

from django import forms
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.announcements.models import AUDIENCE_KINDS, Announcement
from apps.announcements.services import LONGEST, AnnouncementFacts
from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.lib.ui.local_time_field import LocalTimeField
from apps.members.models import Site, Tariff
from apps.network.models import GatewayGroup, Pool

USUAL: Final = timedelta(days=14)
COLUMNS: Final = ("title_de", "text_de", "title_en", "text_en", "shown_from", "shown_until", "by_mail")


class _ChosenField[Row: Model](forms.ModelMultipleChoiceField[Row]):
    """Checkboxes for rows of one kind."""

    def __init__(self, rows: Any, label: Any) -> None:
        super().__init__(rows, label=label, required=False, widget=forms.CheckboxSelectMultiple)


class _GroupsField(_ChosenField[GatewayGroup]):
    def label_from_instance(self, obj: GatewayGroup) -> str:
        names = ", ".join(each.name for each in obj.gateways.all())
        return f"{obj.name} ({names})" if names else obj.name


class _PoolsField(_ChosenField[Pool]):
    def label_from_instance(self, obj: Pool) -> str:
        return f"{obj.name} ({obj.prefix})"


class AnnouncementForm(forms.Form):
    """Texts in one language or both, the audience, and when it is shown. version: the one that was read."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    title_de = forms.CharField(label=_("German title"), required=False, max_length=200, widget=forms.TextInput(attrs={"lang": "de"}))
    text_de = forms.CharField(
        label=_("German text"), required=False, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 9, "lang": "de"})
    )
    title_en = forms.CharField(label=_("English title"), required=False, max_length=200, widget=forms.TextInput(attrs={"lang": "en"}))
    text_en = forms.CharField(
        label=_("English text"), required=False, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 9, "lang": "en"})
    )
    dropped = forms.MultipleChoiceField(
        label=_("Do not narrow by these any more"),
        required=False,
        help_text=_("All that was chosen of these kinds was removed, so it reaches nobody. Choose others below, or drop the kind here."),
        widget=forms.CheckboxSelectMultiple,
    )
    sites: _ChosenField[Site] = _ChosenField(Site.objects.all(), _("Houses"))
    pools = _PoolsField(Pool.objects.all(), _("Address pools"))
    groups = _GroupsField(GatewayGroup.objects.prefetch_related("gateways"), _("Gateways"))
    tariffs: _ChosenField[Tariff] = _ChosenField(Tariff.objects.all(), _("Tariffs"))
    shown_from = LocalTimeField(label=_("Shown from"), required=False, help_text=_("Empty: at once. Mails leave from then on."))
    shown_until = LocalTimeField(label=_("Shown until"), is_end=True)
    by_mail = forms.BooleanField(
        label=_("Also by mail"), required=False, help_text=_("One mail to each member, in their language, after all other mails.")
    )

    def __init__(self, data: Any = None, row: Announcement | None = None) -> None:
        initial: dict[str, Any] = {"by_mail": True, "shown_until": timezone.now().replace(second=0, microsecond=0) + USUAL}
        if row:
            initial = {name: getattr(row, name) for name in ("version", *COLUMNS)}
            initial |= {kind: getattr(row, kind).all() for kind in AUDIENCE_KINDS}
        super().__init__(data, initial=initial)
        field: Any = self.fields["dropped"]
        field.choices = [(kind, self.fields[kind].label) for kind in (row.list_emptied_kinds() if row else ())]

    def get_audience_fields(self) -> list[forms.BoundField]:
        """Return the fields of the audience that offer something or were refused."""
        fields: Any = self.fields
        return [self[name] for name in ("dropped", *AUDIENCE_KINDS) if name in self.errors or fields[name].choices]

    def to_facts(self) -> AnnouncementFacts:
        """Return the cleaned data as the services expect it."""
        return AnnouncementFacts(**{name: self.cleaned_data[name] for name in (*COLUMNS, *AUDIENCE_KINDS, "dropped")})

    def add_problem(self, problem: Problem) -> None:
        """Show a service's refusal under the field that it concerns."""
        add_problem_to_form(self, problem)
