"""Forms of members and their devices."""

from datetime import date
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.lib.fields import MacField
from apps.members.models import Member, Room, Tariff
from apps.members.services import Facts


class DateInput(forms.DateInput):
    """The browser's own calendar; it speaks ISO 8601 whatever the language."""

    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d")


class RoomField(forms.CharField):
    """A room as it is called: the house's code and what stands on the door, B-214."""

    def prepare_value(self, value: Any) -> Any:
        return str(value) if isinstance(value, Room) else value

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        code, _dash, name = text.partition("-")
        room = Room.objects.select_related("site").filter(site__code__iexact=code.strip(), name__iexact=name.strip()).first()
        if room is None:
            raise ValidationError(_unknown_room(text, code.strip()))
        return room


def _unknown_room(text: str, code: str) -> str:
    rooms = list(Room.objects.select_related("site").filter(site__code__iexact=code)[:3])
    if not rooms:
        return _("There is no room “%(text)s”. Write the house and the door, like B-214.") % {"text": text}
    facts = {"text": text, "house": rooms[0].site, "rooms": ", ".join(map(str, rooms))}
    return _("There is no room “%(text)s”. %(house)s has %(rooms)s and others.") % facts


class MemberForm(forms.Form):
    """What is known of a member. `version` is what the person saw."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1, required=False)
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    email = forms.EmailField(label=gettext_lazy("E-mail"), max_length=254, required=False)
    language = forms.ChoiceField(label=gettext_lazy("Language"), choices=settings.LANGUAGES)
    room = RoomField(
        label=gettext_lazy("Room"), max_length=40, required=False, help_text=gettext_lazy("The house and the door, like B-214")
    )
    tariff = forms.ModelChoiceField(Tariff.objects.all(), label=gettext_lazy("Tariff"), empty_label=None)
    since = forms.DateField(label=gettext_lazy("Member since"), widget=DateInput)
    paid_until = forms.DateField(label=gettext_lazy("Paid until"), widget=DateInput, required=False)
    note = forms.CharField(
        label=gettext_lazy("Note"), widget=forms.Textarea(attrs={"rows": 3}), max_length=4000, required=False,
        help_text=gettext_lazy("For staff only"),
    )  # fmt: skip

    def facts(self) -> Facts:
        """What the services take; the form is valid."""
        return Facts(**{name: self.cleaned_data[name] for name in Facts.__dataclass_fields__})


class NewMemberForm(MemberForm):
    """A member who is not there yet."""

    number = forms.IntegerField(
        label=gettext_lazy("Number"), min_value=1, max_value=2**31 - 1, required=False,
        help_text=gettext_lazy("Empty: the next free one"), widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )  # fmt: skip
    active = forms.BooleanField(
        label=gettext_lazy("Active at once"), required=False, help_text=gettext_lazy("Otherwise somebody activates the membership later")
    )

    def __init__(self, data: Any = None, *, today: date) -> None:
        super().__init__(data, initial={"since": today})


def known(member: Member) -> dict[str, Any]:
    """What the form shows of a member as it is now."""
    return {name: getattr(member, name) for name in Facts.__dataclass_fields__} | {"version": member.version}


class MacInput(forms.CharField):
    """A MAC address in any of the usual spellings."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return MacField().to_python(text)


class DeviceForm(forms.Form):
    """A device by its name and MAC address."""

    name = forms.CharField(label=gettext_lazy("Device"), max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    mac = MacInput(
        label=gettext_lazy("MAC address"), max_length=40, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
    )

    offer = ""
