"""Reads settings: `read_setting(HOLD_DAYS)` is the value on the page, or else the default.

A page that only reads asks the database once for all settings; everything else asks each time, so every process sees a change at once.
"""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils.functional import lazy

from apps.lib.web.frame_reads import read_with_frame
from apps.preferences.declarations import SETTINGS
from apps.preferences.models import NetworkSettings
from apps.preferences.setting import Setting


def read_setting[Value](setting: Setting[Value]) -> Value:
    """Return the setting's value in force."""
    value: Value | None = _load_values().get(setting.name)
    return setting.get_default() if value is None else value


def is_chosen(setting: Setting[Any]) -> bool:
    """Return True if somebody chose the value: on the page, or in the environment."""
    return _load_values().get(setting.name) is not None or setting.is_default_from_environment()


def _load_values() -> Mapping[str, Any]:
    """Return the columns of the row; empty if nothing was ever changed."""
    return next(iter(_list_values()), {})


@read_with_frame
def _list_values() -> QuerySet[NetworkSettings, dict[str, Any]]:
    names = [each.name for each in SETTINGS]
    rows: QuerySet[NetworkSettings, dict[str, Any]] = NetworkSettings.objects.values(*names)
    return rows[:1]


def get_settings_row() -> NetworkSettings:
    """Return the row; while there is none, an unsaved one with version 0."""
    return NetworkSettings.objects.first() or NetworkSettings(pk=None, version=0)


def find_setting(name: str) -> Setting[Any] | None:
    return next((each for each in SETTINGS if each.name == name), None)


def format_setting_value(setting: Setting[Any]) -> str:
    """Return the value in force as people read it, such as “30 days”."""
    return setting.format(read_setting(setting))


describe_lazily = lazy(format_setting_value, str)
"""The same, read each time that the text is shown."""
