"""Every declared setting: bounds, words in both languages, and that something reads it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.translation import override

from apps.lib.errors import Problem
from apps.preferences.declarations import FORBIDDEN_PORTS, HOLD_DAYS, NETWORK_NAME, SETTINGS
from apps.preferences.setting import PREFIX, ChoiceSetting, NumberSetting, Setting, SettingSection, TextSetting
from tests.unit.test_settings_are_documented import read_documented

EVERY = pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: each.name)


def _list_files() -> list[Path]:
    own, roots = settings.ROOT / "apps" / "preferences", (settings.ROOT / "apps", settings.ROOT / "workers")
    files = [each for root in roots for each in root.rglob("*.py")]
    return [each for each in files if each.parent != own or each.name == "context_processors.py"]


def words(setting: Setting[Any], language: str) -> tuple[str, str, str]:
    with override(language):
        return str(setting.label), str(setting.help), str(setting.section.label)


@EVERY
def test_a_default_is_inside_its_bounds(setting: Setting[Any]) -> None:
    assert setting.clean(setting.default) == setting.default


@EVERY
def test_label_and_help_are_there_in_both_languages(setting: Setting[Any]) -> None:
    english, german = words(setting, "en"), words(setting, "de")
    assert all(english)
    assert all(there != here for here, there in zip(english, german, strict=True))


@EVERY
def test_something_reads_the_setting(setting: Setting[Any]) -> None:
    read = re.compile(rf"read_setting\({setting.name.upper()}\)")
    assert any(read.search(file.read_text()) for file in _list_files())


@pytest.mark.parametrize("setting", [each for each in SETTINGS if each.variable], ids=lambda each: each.name)
def test_a_variable_of_the_environment_is_the_default_and_documented(setting: Setting[Any]) -> None:
    assert setting.variable in read_documented()
    assert type(getattr(settings, setting.variable.removeprefix(PREFIX))) is type(setting.default)


def test_names_are_unique_and_every_section_has_a_setting() -> None:
    assert len({each.name for each in SETTINGS}) == len(SETTINGS)
    assert {each.section for each in SETTINGS} == set(SettingSection)


@pytest.mark.parametrize("setting", [each for each in SETTINGS if isinstance(each, NumberSetting)], ids=lambda each: each.name)
def test_a_number_beyond_its_bounds_is_refused_with_the_bounds(setting: NumberSetting) -> None:
    for wrong in (setting.least - 1, setting.most + 1):
        with pytest.raises(Problem, match=rf"from {setting.least} to {setting.most}") as refused:
            setting.clean(wrong)
        assert refused.value.fieldname == setting.name


def test_text_that_is_no_number_is_refused() -> None:
    with pytest.raises(Problem, match="“soon” is not a number from 0 to 365"):
        HOLD_DAYS.parse("soon")
    assert HOLD_DAYS.parse(" 20 ") == 20


def test_a_name_is_one_line_that_can_be_seen() -> None:
    assert NETWORK_NAME.clean("  Haus \n Linde ") == "Haus Linde"
    for wrong in ("", " \n", "Linde\u200b", "x" * 61):
        with pytest.raises(Problem):
            NETWORK_NAME.clean(wrong)


def test_ports_are_typed_as_ranges_and_kept_in_order() -> None:
    assert FORBIDDEN_PORTS.parse("5060-5062, 25") == [25, 5060, 5061, 5062]
    assert FORBIDDEN_PORTS.format([25, 5060, 5061]) == "25, 5060-5061"
    for wrong in ("70000", "5-4", "x"):
        with pytest.raises(Problem, match="neither a port nor a range"):
            FORBIDDEN_PORTS.parse(wrong)
    with pytest.raises(Problem, match="from 1 to 65535"):
        FORBIDDEN_PORTS.clean([0])


def test_the_documentation_lists_every_setting_with_default_and_bounds() -> None:
    page = (settings.ROOT / "docs" / "settings.md").read_text()
    assert [each for each in map(_document, SETTINGS) if each not in page] == []


def _document(setting: Setting[Any]) -> str:
    """Return the setting's line in docs/settings.md."""
    bounds = ""
    if isinstance(setting, NumberSetting):
        bounds = f"{setting.least} to {setting.most}"
    elif isinstance(setting, TextSetting):
        bounds = f"{setting.longest} characters"
    elif isinstance(setting, ChoiceSetting):
        bounds = ", ".join(value for value, _name in setting.choices)
    default = setting.format(setting.default) if setting.default else ""
    cells = [f"`{setting.name}`", default, bounds, f"`{setting.variable}`" if setting.variable else ""]
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
