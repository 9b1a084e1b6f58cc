"""Services that change settings. Pages, the API and the command call them; each change is one event of the history."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.lib.errors import Conflict, Problem
from apps.preferences.declarations import ERASE_DAYS, HOLD_DAYS, SETTINGS
from apps.preferences.models import ONLY, NetworkSettings
from apps.preferences.selectors import find_setting, get_settings_row
from apps.preferences.setting import Setting

log = structlog.get_logger()


def change_settings(*, version: int, values: Mapping[str, Any], by: Any) -> NetworkSettings:
    """Change these settings by their names; None: back to the default.

    Raises Conflict when settings were changed since `version` (0: there were none), Problem at the name of a setting whose value is
    out of bounds or contradicts another.
    """
    known = {name: require_setting(name) for name in values}
    wanted = {name: value if value is None else known[name].clean(value) for name, value in values.items()}
    try:
        with transaction.atomic():
            NetworkSettings.objects.get_or_create(pk=ONLY, defaults={"version": 0})
            if not NetworkSettings.objects.filter(pk=ONLY, version=version).update(**wanted, version=F("version") + 1):
                raise Conflict(
                    _("The settings were changed by someone else while you were editing. Look at them as they are now, then save again.")
                )
            row = get_settings_row()
            check_settings(row)
    except IntegrityError as error:
        raise explain_settings_error(error, NetworkSettings(**wanted)) from error
    log.info("settings changed", names=sorted(wanted), by=str(by or ""))
    return row


def reset_settings(row: NetworkSettings) -> None:
    """Set all settings back to their defaults."""
    change_settings(version=row.version, values=dict.fromkeys((each.name for each in SETTINGS), None), by=None)


def check_settings(row: NetworkSettings, _current: NetworkSettings | None = None) -> None:
    """Raise Problem for values that contradict each other, defaults included."""
    stored = [getattr(row, each.name) for each in (HOLD_DAYS, ERASE_DAYS)]
    held, erased = (each.get_default() if value is None else value for each, value in zip((HOLD_DAYS, ERASE_DAYS), stored, strict=True))
    if stored != [None, None] and erased < held:
        raise _build_erased_too_early(held)


def explain_settings_error(error: IntegrityError, row: NetworkSettings) -> Problem:
    """Explain the constraint that refuses these settings."""
    if "networksettings_erased_after_hold" in str(error):
        return _build_erased_too_early(getattr(row, HOLD_DAYS.name))
    for each in SETTINGS:
        if f"networksettings_{each.name}" in str(error):
            return Problem(_("%(setting)s cannot be %(value)s.") % {"setting": each.label, "value": getattr(row, each.name)}, each.name)
    raise error


def _build_erased_too_early(held: int | None) -> Problem:
    text = _("Their addresses are kept for %(days)s days: personal data cannot be erased before that.")
    return Problem(text % {"days": held}, ERASE_DAYS.name)


def require_setting(name: str) -> Setting[Any]:
    """Return the setting of this name. Raises Problem."""
    setting = find_setting(name)
    if setting is None:
        raise Problem(_("There is no setting “%(name)s”.") % {"name": name}, name)
    return setting
