"""manage.py note_backup: the last line of a backup script tells the portal that a backup of the database was made."""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.lib.ui import formats
from apps.operations.portal_health.backups import BackupNoteError, measure_backup, note_backup

AHEAD: Final = timedelta(minutes=5)  # by which another machine's clock may be ahead


class Command(BaseCommand):
    help = (
        "Note that a backup of the database was made. Call it at the end of your backup script: the portal warns when the last one is "
        "older than the setting backup_hours."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("place", help="where the backup is, such as nas:/backup/netzwart-2026-11-28.dump")
        size = parser.add_mutually_exclusive_group()
        size.add_argument("--file", type=Path, help="the backup, a file or a directory on this machine: its size is noted")
        size.add_argument("--size", type=int, metavar="OCTETS", help="its size, if it is not on this machine")
        parser.add_argument("--at", metavar="TIME", help="when it was made, such as 2026-11-28T03:00:00+01:00 (default: now)")

    def handle(self, *args: Any, **options: Any) -> None:
        place, at = options["place"].strip(), self._parse_time(options["at"])
        if not place or len(place) > 200:
            raise CommandError("Say in 1 to 200 characters where the backup is.")
        if options["size"] is not None and options["size"] < 0:
            raise CommandError("--size is a number of octets.")
        try:
            octets = measure_backup(options["file"]) if options["file"] else options["size"]
            noted = note_backup(place=place, octets=octets, at=at)
        except BackupNoteError as error:
            raise CommandError(str(error)) from error
        size = "" if noted.octets is None else f", {formats.format_volume(noted.octets)}"
        self.stdout.write(f"Noted: {noted.place}{size}, {formats.format_full_time(noted.at)}.")

    def _parse_time(self, text: str | None) -> datetime:
        if text is None:
            return timezone.now()
        try:
            at = parse_datetime(text)
        except ValueError:
            at = None
        if at is None or at.tzinfo is None:
            raise CommandError(f"“{text}” is not a time with its zone, such as 2026-11-28T03:00:00+01:00.")
        if at > timezone.now() + AHEAD:
            raise CommandError(f"{text} is in the future. Nothing was noted.")
        return at
