"""manage.py import_people: imports a table of members."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import User
from apps.desk.people_import.columns import ColumnMeaning
from apps.desk.people_import.services import PeopleFile, check_people, import_people
from apps.desk.people_import.table_limits import MOST_OCTETS
from apps.lib.errors import Problem


class Command(BaseCommand):
    help = (
        "Import members with their rooms, devices, addresses, port forwards and payments from a table (CSV, ODS, XLSX), one member a line. "
        "Members are added and changed, never removed. All or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the table; - reads standard input")
        parser.add_argument("--author", metavar="USERNAME", help="the account that the history names; needed without --dry-run")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="HEADER=MEANING",
            help=f"what a column means, such as Zimmer=room; meanings: {', '.join(ColumnMeaning)}",
        )
        parser.add_argument("--create-rooms", action="store_true", help="create houses and rooms that do not exist")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        content = _read_content(options["file"])
        file = PeopleFile(content, Path(options["file"]).name, choices=options["column"], create_rooms=options["create_rooms"])
        try:
            report = check_people(file) if options["dry_run"] else import_people(file=file, by=_get_author(options["author"]))
        except Problem as problem:
            raise CommandError(str(problem)) from problem
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        else:
            self._print_report(report, dry=options["dry_run"])
        if report["problem_count"]:
            raise SystemExit(1)

    def _print_report(self, report: dict[str, Any], *, dry: bool) -> None:
        for each in report["problems"]:
            self.stderr.write(f"line {each['line']}{f', {each["column"]}' if each['column'] else ''}: {each['text']}")
        if report["skipped"]:
            self.stdout.write(f"Columns that are not read: {', '.join(report['skipped'])}.")
        if report["problem_count"]:
            self.stderr.write(f"Nothing was imported: {report['problem_count']:,} problems. Correct the table, then try again.")
            return
        numbers = [f"{number:,} {name.replace('_', ' ')}" for name, number in report["counts"].items() if number]
        words = "dry run: nothing was changed" if dry else "done"
        self.stdout.write(f"{', '.join(numbers) or 'The table has no lines'} ({words}).")


def _read_content(name: str) -> bytes:
    """Read at most one octet more than an import accepts."""
    try:
        if name == "-":
            return sys.stdin.buffer.read(MOST_OCTETS + 1)
        with Path(name).open("rb") as file:
            return file.read(MOST_OCTETS + 1)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}.") from error


def _get_author(username: str | None) -> User:
    if not username:
        raise CommandError("Name the account that imports with --author, or add --dry-run.")
    try:
        return User.objects.get(username=username)
    except User.DoesNotExist:
        raise CommandError(f"Unknown user “{username}”.") from None
