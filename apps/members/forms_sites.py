"""Forms of sites and rooms."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.lib.errors import Problem
from apps.lib.ui.form_errors import add_problem_to_form
from apps.members.models import Room, Site
from apps.members.room_names import LONGEST_NAME, LONGEST_TEXT, RoomName, build_room_names
from apps.members.site_services import HIGHEST_FLOOR, LONGEST_CODE, LOWEST_FLOOR

_PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class VersionForm(forms.Form):
    """Base of forms that change a row: `version` is the one that the form was rendered from."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1, required=False)

    def __init__(self, row: Any = None, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(row, name) for name in self.base_fields} if row else None)

    def get_version(self) -> int:
        """Return the version to change; 0, which no row has, if the form did not say."""
        return self.cleaned_data["version"] or 0

    def get_facts(self) -> dict[str, Any]:
        """Return the input for the service, without the version."""
        return {name: value for name, value in self.cleaned_data.items() if name != "version"}


class SiteForm(VersionForm):
    """A site's name and code."""

    name = forms.CharField(label=_("Name"), max_length=60, help_text=_("Like “House B” or its street"), widget=forms.TextInput(_PLAIN))
    code = forms.CharField(
        label=_("Code"),
        max_length=LONGEST_CODE,
        help_text=_("Begins the names of rooms: with code B, door 214 is B-214"),
        widget=forms.TextInput(_PLAIN),
    )

    def __init__(self, row: Site | None = None, data: Any = None) -> None:
        super().__init__(row, data)


class RoomForm(VersionForm):
    """A room's floor and name."""

    floor = forms.IntegerField(label=_("Floor"), min_value=LOWEST_FLOOR, max_value=HIGHEST_FLOOR)
    name = forms.CharField(
        label=_("Door"), max_length=LONGEST_NAME, help_text=_("Without the code of the house"), widget=forms.TextInput(_PLAIN)
    )

    def __init__(self, row: Room, data: Any = None) -> None:
        super().__init__(row, data)


class RoomsForm(forms.Form):
    """Many rooms at once: the same doors on each of some floors."""

    first_floor = forms.IntegerField(label=_("From floor"), min_value=LOWEST_FLOOR, max_value=HIGHEST_FLOOR, initial=0)
    last_floor = forms.IntegerField(
        label=_("To floor"), min_value=LOWEST_FLOOR, max_value=HIGHEST_FLOOR, required=False, help_text=_("Empty: only this floor")
    )
    doors = forms.CharField(
        label=_("Doors on each floor"),
        max_length=LONGEST_TEXT,
        help_text=_("Ranges and names, like 01-16, 20, Kitchen"),
        widget=forms.TextInput(_PLAIN),
    )
    floor_first = forms.BooleanField(
        label=_("The floor begins the name"), required=False, initial=True, help_text=_("Door 14 on floor 2 is then 214")
    )

    def clean(self) -> dict[str, Any]:
        wanted = super().clean() or {}
        first, last = wanted.get("first_floor"), wanted.get("last_floor")
        if first is not None and last is not None and last < first:
            self.add_error("last_floor", forms.ValidationError(_("The last floor is below the first.")))
        elif first is not None and "doors" in wanted:
            try:
                wanted["rooms"] = build_room_names(
                    range(first, (first if last is None else last) + 1), wanted["doors"], floor_first=wanted["floor_first"]
                )
            except Problem as problem:
                add_problem_to_form(self, problem)
        return wanted

    def get_rooms(self) -> list[RoomName]:
        """Return the rooms to add. The form must be valid."""
        rooms: list[RoomName] = self.cleaned_data["rooms"]
        return rooms
