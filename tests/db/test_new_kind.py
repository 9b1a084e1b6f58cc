"""A new kind of rule costs as many files as CONTRIBUTING says: a toy kind is added to a copy of the tree, and works from API to packet."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.programs import ROOT
from tests.db.test_schema_snapshot import empty_database

KIND = ROOT / "tests" / "data" / "new_kind"
COPIED = ("apps", "firewall", "lab", "migrations", "portal", "tests", "workers", "manage.py", "requirements-production.lock")
LINKED = ("gateway", "locale", "static", "templates")
NOTES = 'triggers("nat_mailpermit", "holding_id", "(\'holding\', r.holding_id::text)")'

pytestmark = pytest.mark.django_db


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """Yield a copy of the tree, without the new kind."""
    for name in COPIED:
        given = ROOT / name
        if given.is_dir():
            shutil.copytree(given, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "data"))
        else:
            shutil.copy(given, tmp_path / name)
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    yield tmp_path


def list_new_files() -> list[Path]:
    return [path.relative_to(KIND) for path in KIND.rglob("*.py") if path.parent != KIND]


def list_edits() -> list[dict[str, str]]:
    edits: list[dict[str, str]] = tomllib.loads((KIND / "edits.toml").read_text())["edit"]
    return edits


def add_kind(tree: Path) -> None:
    for path in list_new_files():
        (tree / path).parent.mkdir(exist_ok=True)
        shutil.copy(KIND / path, tree / path)
    for edit in list_edits():
        file, line = tree / edit["file"], f"{edit['after']}\n"
        text = file.read_text()
        assert text.count(line) == 1, f"{edit['file']} has not one line: {edit['after']}"
        file.write_text(text.replace(line, f"{line}{edit['text'].strip(chr(10))}\n"))


def run(tree: Path, url: str, *command: str) -> str:
    given = {**os.environ, "NETZWART_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "portal.settings", "PYTHONPATH": str(tree)}
    done = subprocess.run([sys.executable, *command], cwd=tree, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_kind_works_from_the_api_to_the_packet_with_the_files_that_contributing_counts(tree: Path) -> None:
    add_kind(tree)
    with empty_database() as url:
        run(tree, url, "manage.py", "makemigrations", "nat", "--name", "mail_permits")
        [made] = (tree / "migrations" / "nat").glob("*_mail_permits.py")
        with made.open("a") as migration:
            migration.write(f"\nfrom migrations.deployments._touched import triggers\n\nMigration.operations.append({NOTES})\n")
        run(tree, url, "manage.py", "migrate", "--no-input", "--verbosity", "0")
        seen = json.loads(run(tree, url, str(KIND / "prove.py")).splitlines()[-1])
    assert seen == {
        "answer": 201,
        "read_alike": True,
        "summary": "1 mail permit added",
        "with_permit": "forwarded",
        "without_permit": "rejected",
        "origin": "mail permit of 10.16.0.10",
        "removed": "10.16.0.10",
        "restored": 1,
    }


def test_contributing_counts_the_files_of_a_new_kind() -> None:
    new, changed = len(list_new_files()) + 1, len({edit["file"] for edit in list_edits()})  # and the migration
    found = re.search(r"(\d+) new files and (\d+) with a line or a few more", (ROOT / "CONTRIBUTING.md").read_text())
    assert found and (int(found[1]), int(found[2])) == (new, changed)
