"""The form of all settings. Its fields are built from their declarations."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.text import format_lazy
from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.port_ranges import PortsListField
from apps.lib.ui.form_errors import add_problem_to_form
from apps.preferences.declarations import SETTINGS
from apps.preferences.models import NetworkSettings
from apps.preferences.setting import ChoiceSetting, NumberSetting, PortsSetting, Setting, SettingSection, TextSetting


class NetworkSettingsForm(forms.Form):
    """Values of all settings. What is left as it is keeps its default. `version`: the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0, max_value=2**31 - 1)

    def __init__(self, row: NetworkSettings, data: Any = None) -> None:
        super().__init__(data, initial={"version": row.version} | _read_values(row))
        self.conflict = ""
        self.saved = _read_values(row)
        self.fields |= {each.name: _build_form_field(each) for each in SETTINGS}

    def clean(self) -> None:
        for setting in SETTINGS:
            if setting.name in self.cleaned_data:
                self._clean_setting(setting)

    def _clean_setting(self, setting: Setting[Any]) -> None:
        try:
            self.cleaned_data[setting.name] = setting.clean(self.cleaned_data[setting.name])
        except Problem as problem:
            add_problem_to_form(self, problem)

    def list_changes(self) -> Mapping[str, Any]:
        """Return the settings that differ from what is saved, with their new values. The form must be valid."""
        return {each.name: self.cleaned_data[each.name] for each in SETTINGS if self.cleaned_data[each.name] != self.saved[each.name]}

    def take_up(self, row: NetworkSettings, conflict: str) -> None:
        """Keep the input, show the values that another person saved beside it, and let the next save replace them."""
        self.conflict, self.saved = conflict, _read_values(row)
        self.data = {**self.data.dict(), "version": str(row.version)}  # type: ignore[attr-defined]  # a QueryDict, from a request

    def iter_sections(self) -> Iterator[tuple[SettingSection, list[tuple[BoundField, str]]]]:
        """Yield the sections with their fields; after a conflict, with the saved value where it differs from the input."""
        for section in SettingSection:
            yield section, [(self[each.name], self._describe_saved(each)) for each in SETTINGS if each.section == section]

    def _describe_saved(self, setting: Setting[Any]) -> str:
        saved = self.saved[setting.name]
        if not self.conflict or self.cleaned_data.get(setting.name) == saved:
            return ""
        return setting.format(saved) or _("empty")


def _read_values(row: NetworkSettings) -> dict[str, Any]:
    """Return the values in force, by the settings' names."""
    stored = {each: getattr(row, each.name) for each in SETTINGS}
    return {each.name: each.get_default() if value is None else value for each, value in stored.items()}


def _build_form_field(setting: Setting[Any]) -> forms.Field:
    words: dict[str, Any] = {"label": setting.label, "help_text": setting.help}
    match setting:
        case NumberSetting():
            label = format_lazy("{} ({})", setting.label, setting.unit.word) if setting.unit and setting.unit.word else setting.label
            bounds = {"min": setting.least, "max": setting.most, "inputmode": "numeric"}
            return forms.IntegerField(**(words | {"label": label}), widget=forms.NumberInput(attrs=bounds))
        case TextSetting():
            return forms.CharField(**words, required=setting.required, widget=forms.TextInput(attrs={"maxlength": setting.longest}))
        case ChoiceSetting():
            return forms.ChoiceField(**words, choices=setting.choices)
        case PortsSetting():
            return PortsListField(**words, required=False, max_length=4000)
        case _:
            raise TypeError(setting)
