"""Forms for members, their devices, and tariffs."""

from datetime import date
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.fields import MacField
from apps.members.models import HIGHEST_KBIT, LOWEST_KBIT, Member, Room, Tariff
from apps.members.selectors import find_most_common_tariff, list_rooms_by_name
from apps.members.services import MemberFacts
from apps.members.tariff_services import TariffTerms
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting


class DateInput(forms.DateInput):
    """Native date input of the browser. Its value is ISO 8601 in every language."""

    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class RoomField(forms.CharField):
    """A room by its name: the site's code and the name on the door, as in B-214."""

    def prepare_value(self, value: Any) -> Any:
        return str(value) if isinstance(value, Room) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        found = list(list_rooms_by_name(text)[:10])
        exact = [room for room in found if str(room).lower() == text.lower()]
        if len(exact or found) != 1:
            raise ValidationError(_describe_unknown_room(text, text.partition("-")[0].strip()))
        return (exact or found)[0]


def _describe_unknown_room(text: str, code: str) -> str:
    rooms = list(Room.objects.select_related("site").filter(site__code__iexact=code)[:3])
    if not rooms:
        return _("There is no room “%(text)s”. Write the house and the door, like B-214.") % {"text": text}
    facts = {"text": text, "house": rooms[0].site, "rooms": ", ".join(map(str, rooms))}
    return _("There is no room “%(text)s”. %(house)s has %(rooms)s and others.") % facts


class MemberForm(forms.Form):
    """The facts of a member. `version` is the version that the form was rendered from."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1, required=False)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    email = forms.EmailField(label=gettext_lazy("E-mail"), max_length=254, required=False)
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=settings.LANGUAGES)
    room = RoomField(
        label=gettext_lazy("Room"), max_length=40, required=False, help_text=gettext_lazy("The house and the door, like B-214"),
        widget=forms.TextInput(attrs={"list": "rooms", "autocomplete": "off"}),
    )  # fmt: skip
    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=gettext_lazy("Tariff"), empty_label=None)
    since = forms.DateField(label=gettext_lazy("Member since"), widget=DateInput)
    paid_until = forms.DateField(label=gettext_lazy("Paid until"), widget=DateInput, required=False)
    note = forms.CharField(
        label=gettext_lazy("Note"), widget=forms.Textarea(attrs={"rows": 3}), max_length=4000, required=False,
        help_text=gettext_lazy("For staff only"),
    )  # fmt: skip

    def build_facts(self) -> MemberFacts:
        """Return the input for the services. The form must be valid."""
        return MemberFacts(**{name: self.cleaned_data[name] for name in MemberFacts.__dataclass_fields__})


class NewMemberForm(MemberForm):
    """The facts of a new member."""

    number = forms.IntegerField(
        label=gettext_lazy("Number"), min_value=1, max_value=2**31 - 1, required=False,
        help_text=gettext_lazy("Empty: the next free one"), widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    active = forms.BooleanField(
        label=gettext_lazy("Active at once"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Otherwise an administrator activates the membership later"),
    )

    def __init__(self, data: Any = None, *, today: date) -> None:
        super().__init__(data, initial={"since": today, "tariff": find_most_common_tariff(), "language": read_setting(DEFAULT_LANGUAGE)})
        self.fields["tariff"].queryset = Tariff.objects.filter(offered=True)  # type: ignore[attr-defined]  # a ModelChoiceField


def build_initial(member: Member) -> dict[str, Any]:
    """Return the form's initial values for a member."""
    return {name: getattr(member, name) for name in MemberFacts.__dataclass_fields__} | {"version": member.version}


class MacFormField(forms.CharField):
    """A MAC address in any of the usual notations."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return MacField().to_python(text)


class DeviceForm(forms.Form):
    """A device's name and MAC address."""

    name = forms.CharField(label=gettext_lazy("Device"), max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    mac = MacFormField(
        label=gettext_lazy("MAC address"), max_length=40, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )

    offer = ""


class RateField(forms.DecimalField):
    """A rate, entered in Mbit/s; the cleaned value is in kbit/s, None when empty."""

    def __init__(self, *, label: Any, help_text: Any = "", lowest: int = LOWEST_KBIT, highest: int | None = HIGHEST_KBIT) -> None:
        most = None if highest is None else Decimal(highest) / 1000
        least = Decimal(lowest) / 1000
        super().__init__(
            label=label, help_text=help_text, required=False, min_value=least, max_value=most, decimal_places=3, max_digits=9,
            widget=forms.NumberInput(attrs={"inputmode": "decimal", "step": "any"}),
        )  # fmt: skip

    def prepare_value(self, value: Any) -> Any:
        """Convert a stored rate to Mbit/s; return submitted text unchanged."""
        return f"{Decimal(value) / 1000:f}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        rate = super().clean(value)
        return None if rate is None else int(rate * 1000)


class TariffForm(forms.Form):
    """The limits and rates of a tariff. `version` is the version that the form was rendered from."""

    version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=60)
    most_forwards = forms.IntegerField(label=gettext_lazy("Port forwards, at most"), min_value=0, max_value=1000, initial=8)
    most_devices = forms.IntegerField(
        label=gettext_lazy("Devices, at most"),
        min_value=0,
        max_value=1000,
        initial=8,
        help_text=gettext_lazy("Registered by members themselves"),
    )
    down_kbit = RateField(label=gettext_lazy("Download rate, Mbit/s"), help_text=gettext_lazy("To the member. Empty: no limit"))
    up_kbit = RateField(label=gettext_lazy("Upload rate, Mbit/s"), help_text=gettext_lazy("From the member. Empty: no limit"))
    trial = forms.BooleanField(label=gettext_lazy("Trial tariff"), required=False)
    offered = forms.BooleanField(
        label=gettext_lazy("Offered"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Otherwise nobody else gets it; members who have it keep it"),
    )

    def __init__(self, tariff: Tariff | None = None, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(tariff, name) for name in self.base_fields} if tariff else None)

    def build_terms(self) -> TariffTerms:
        """Return the input for the services. The form must be valid."""
        return TariffTerms(**{name: value for name, value in self.cleaned_data.items() if name != "version"})
