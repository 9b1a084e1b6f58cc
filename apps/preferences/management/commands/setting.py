"""manage.py setting: lists, shows, sets and resets the settings of the network."""

from argparse import ArgumentParser
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError

from apps.lib.errors import Problem
from apps.preferences import services
from apps.preferences.declarations import SETTINGS
from apps.preferences.selectors import find_setting, get_settings_row
from apps.preferences.setting import Setting


class Command(BaseCommand):
    help = "Settings of the network, as on the page “Settings”: list, show, set, reset to the default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True, metavar="list | show | set | reset")
        what.add_parser("list", help="list all settings with their values")
        what.add_parser("show", help="show a setting: what it is for, its value and its default").add_argument("name")
        change = what.add_parser("set", help="set a setting")
        change.add_argument("name")
        change.add_argument("value", help="ports as “25, 135-139”")
        what.add_parser("reset", help="set a setting back to its default").add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with pghistory.context(cause=f"setting {options['what']}"):
                getattr(self, f"_{options['what']}")(options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _list(self, _options: dict[str, Any]) -> None:
        row = get_settings_row()
        for setting in SETTINGS:
            self.stdout.write(f"{setting.name:20} {_describe(setting, getattr(row, setting.name))}")

    def _show(self, options: dict[str, Any]) -> None:
        setting = _get_named(options["name"])
        self.stdout.write(f"{setting.label}: {_describe(setting, getattr(get_settings_row(), setting.name))}")
        self.stdout.write(str(setting.help))
        self.stdout.write(f"Default: {setting.format(setting.get_default())}{f' ({setting.variable})' if setting.variable else ''}")

    def _set(self, options: dict[str, Any]) -> None:
        setting = _get_named(options["name"])
        self._change(setting, setting.parse(options["value"]))

    def _reset(self, options: dict[str, Any]) -> None:
        self._change(_get_named(options["name"]), None)

    def _change(self, setting: Setting[Any], value: Any) -> None:
        row = services.change_settings(version=get_settings_row().version, values={setting.name: value}, by=None)
        self.stdout.write(f"{setting.label}: {_describe(setting, getattr(row, setting.name))}")


def _get_named(name: str) -> Setting[Any]:
    """Return the setting of this name. Raises CommandError with all names."""
    found = find_setting(name)
    if found is None:
        raise CommandError(f"There is no setting {name}. Settings: {', '.join(each.name for each in SETTINGS)}.")
    return found


def _describe(setting: Setting[Any], stored: Any) -> str:
    if stored is not None:
        return setting.format(stored)
    source = f"default from {setting.variable}" if setting.is_default_from_environment() else "default"
    return f"{setting.format(setting.get_default()) or '–'} ({source})"
