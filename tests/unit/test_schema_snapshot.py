"""The snapshot of the schema holds all our migrations, so that a first start and each test worker make their database in a second."""

import re

from apps.lib.database.schema_snapshot import ROOT, SNAPSHOT


def test_every_migration_is_in_the_snapshot() -> None:
    migrations = {(file.parent.name, file.stem) for file in (ROOT / "migrations").glob("*/[0-9]*.py")}
    assert migrations, "no migrations found"
    contained = set(re.findall(r"^    \('(\w+)', '(\w+)'\)", SNAPSHOT.read_text(), re.MULTILINE))
    missing = sorted("/".join(migration) for migration in migrations - contained)
    assert not missing, f"run `.venv/bin/python -m portal.stack snapshot` and commit {SNAPSHOT.name}; it lacks {missing}"
