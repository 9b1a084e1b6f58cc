"""What the page says beside each setting: its default, where that comes from, and who changed the setting when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from apps.audit.entries import describe_author, map_user_names
from apps.audit.trail import get_trail
from apps.preferences.declarations import SETTINGS
from apps.preferences.models import NetworkSettings
from apps.preferences.setting import Setting


@dataclass(frozen=True, slots=True)
class SettingState:
    """State of a setting. `is_set`: it was changed and not reset; `who`, `at`: its last change, "" and None if there was none."""

    setting: Setting[Any]
    is_set: bool
    who: str
    at: datetime | None

    @property
    def default(self) -> str:
        """The default in words, with its source."""
        value = self.setting.format(self.setting.get_default()) or _("empty")
        if not self.setting.is_default_from_environment():
            return value
        return _("%(value)s, from the environment (%(variable)s)") % {"value": value, "variable": self.setting.variable}


def map_setting_states(row: NetworkSettings) -> Mapping[str, SettingState]:
    """Return the state of each setting, by its name."""
    last = _find_last_events()
    people = map_user_names(last.values())
    return {each.name: _build_state(each, row, last.get(each.name), people) for each in SETTINGS}


def _build_state(setting: Setting[Any], row: NetworkSettings, event: Any | None, people: Mapping[int, str]) -> SettingState:
    who = describe_author(event, people) if event else ""
    return SettingState(setting, getattr(row, setting.name) is not None, who, event.pgh_created_at if event else None)


def _find_last_events() -> dict[str, Any]:
    """Return for each setting the last event that changed it. There are as many events as people made changes."""
    last: dict[str, Any] = {}
    before: Any = None
    for event in get_trail(NetworkSettings).events._default_manager.select_related("pgh_context").order_by("pgh_id"):
        changed = [each.name for each in SETTINGS if getattr(before, each.name, None) != getattr(event, each.name)]
        last |= dict.fromkeys(changed, event)
        before = event
    return last
