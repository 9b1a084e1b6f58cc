import re
from pathlib import Path

from portal.stack.environment import build_variables
from portal.stack.state_paths import StatePaths

ROOT = Path(__file__).parents[2]
READ = re.compile(r'(?:environ(?:\.get\(|\[)|_env\.read_\w+\()\s*"(NETZWART_\w+)"')
ROW = re.compile(r"^\| `(NETZWART_\w+)`( ●)? \|", re.MULTILINE)


def read_documented() -> dict[str, bool]:
    """Return the variables on the page, and whether script/server sets them."""
    return {name: bool(mark) for name, mark in ROW.findall((ROOT / "docs" / "settings.md").read_text())}


def test_every_variable_that_the_settings_read_is_documented_and_no_other() -> None:
    assert set(read_documented()) == set(READ.findall((ROOT / "portal" / "settings.py").read_text()))


def test_the_page_is_sorted() -> None:
    assert list(read_documented()) == sorted(read_documented())


def test_what_the_server_sets_is_marked(tmp_path: Path) -> None:
    assert {name for name, marked in read_documented().items() if marked} == set(build_variables(StatePaths.from_directory(tmp_path)))


def test_no_variable_is_read_beside_the_settings() -> None:
    elsewhere = [
        str(file.relative_to(ROOT))
        for folder in ("apps", "workers", "gateway", "firewall", "lab")
        for file in (ROOT / folder).rglob("*.py")
        if READ.search(file.read_text())
    ]
    assert elsewhere == []
