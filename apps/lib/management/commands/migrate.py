"""Django's migrate, but an empty database is created from the schema snapshot before newer migrations run.

It refuses a database made by removed migrations: Django would create its tables a second time. It refuses the database of a later
release, too: Django has nothing to do there, and this release's programs would be started with tables that they do not know.
"""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections, transaction

from apps.lib.database import schema_snapshot


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--one-by-one",
            action="store_true",
            help="Run each migration, also on an empty database, instead of loading the schema snapshot.",
        )

    def handle(self, *args: Any, **options: Any) -> Any:
        with connections[options["database"]].cursor() as cursor:
            if schema_snapshot.has_removed_migrations(cursor):
                raise CommandError(f"{schema_snapshot.OUTDATED} Make an empty database and migrate that.")
            if not options["app_label"] and (unknown := schema_snapshot.list_unknown_migrations(cursor)):
                raise CommandError(schema_snapshot.explain_unknown_migrations(unknown))
        whole = not any(
            options[each] for each in ("app_label", "migration_name", "plan", "check_unapplied", "fake", "fake_initial", "prune")
        )
        if whole and not options["one_by_one"]:
            self._load_into_an_empty_database(options["database"])
        done = super().handle(*args, **options)
        if not (options["plan"] or options["check_unapplied"]):
            with connections[options["database"]].cursor() as cursor:
                schema_snapshot.mark_migrated(cursor, current=whole)
        return done

    def _load_into_an_empty_database(self, database: str) -> None:
        connection = connections[database]
        with connection.cursor() as cursor:
            if not schema_snapshot.is_empty(cursor):
                return
        with transaction.atomic(database), connection.cursor() as cursor:
            schema_snapshot.load_schema_snapshot(cursor)
        connection.close()  # discards the settings that the snapshot made
