"""Migrations import nothing that may change, and lock no table that grows for as long as reading it takes."""

from pathlib import Path

import pytest

from apps.lib.database.migration_rules import ROOT, are_locks_judged, find_live_imports, find_long_locks, list_migrations

MIGRATIONS = [pytest.param(each, id=str(each.relative_to(ROOT))) for each in list_migrations()]


@pytest.mark.parametrize("file", MIGRATIONS)
def test_a_migration_imports_no_live_code(file: Path) -> None:
    assert find_live_imports(file.read_text()) == [], "copy what it needs: the migration must do in a year what it does now"


@pytest.mark.parametrize("file", MIGRATIONS)
def test_a_migration_holds_no_lock_while_it_reads_a_large_table(file: Path) -> None:
    judged = are_locks_judged(file.parent.name, file.name)
    assert not judged or find_long_locks(file.parent.name, file.read_text()) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from apps.mail.models import Message", ["apps.mail.models"]),
        ("import firewall.names", ["firewall.names"]),
        ("from django.db import models\nimport apps.lib.fields\nfrom migrations.deployments._touched import times", []),
    ],
)
def test_live_code_is_seen(source: str, found: list[str]) -> None:
    assert find_live_imports(source) == found


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            "migrations.AddIndex(model_name='message', index=models.Index(fields=['at']))",
            "AddIndex on mail.message: use AddIndexConcurrently",
        ),
        ("migrations.AddConstraint(model_name='Message', constraint=None)", "AddConstraint on mail.message: use AddConstraintNotValid"),
        ("migrations.AlterField(model_name='message', name='at', field=None)", "AlterField on mail.message: add a new column"),
        ("migrations.RunSQL('CREATE UNIQUE INDEX one ON mail_message (at)')", "SQL on mail_message: CREATE INDEX CONCURRENTLY"),
        ("migrations.RunSQL('CREATE INDEX ON mail_message (at)')", "SQL on mail_message: CREATE INDEX CONCURRENTLY"),
        ("FILL = '''\n UPDATE mail_message SET at = now()'''", "SQL on mail_message: change its rows in batches"),
    ],
)
def test_a_long_lock_is_seen_and_the_way_around_it_named(source: str, words: str) -> None:
    [found] = find_long_locks("mail", source)
    assert found.startswith(words)


@pytest.mark.parametrize(
    "source",
    [
        "AddIndexConcurrently(model_name='message', index=None)",
        "migrations.AddField(model_name='message', name='urgent', field=models.BooleanField(default=False))",
        "migrations.AddIndex(model_name='channel', index=None)",
        "migrations.CreateModel(name='Message', fields=[]), migrations.AddIndex(model_name='message', index=None)",
        "migrations.RunSQL('CREATE INDEX CONCURRENTLY one ON mail_message (at)')",
        "migrations.RunSQL('UPDATE mail_channel SET at = now()')",
    ],
)
def test_what_is_quick_or_holds_no_lock_passes(source: str) -> None:
    assert find_long_locks("mail", source) == []


def test_a_migration_that_came_before_the_rule_is_not_judged() -> None:
    assert not are_locks_judged("mail", "0002_bulk_mail.py") and are_locks_judged("mail", "0003_next.py")
    assert not are_locks_judged("status", "0001_initial.py") and are_locks_judged("status", "0002_next.py")
